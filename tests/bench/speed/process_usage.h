#ifndef TTL_TESTS_BENCH_SPEED_PROCESS_USAGE_H_
#define TTL_TESTS_BENCH_SPEED_PROCESS_USAGE_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace ttl::bench {

// Processor time that a process has used so far; 0 is this process. Zero if there is
// no such process.
std::chrono::nanoseconds CpuTime(pid_t pid);

// Waits until a process has all but stopped to use the processor, a minute at most: what
// LevelDB does in the background goes on after the writes that made it necessary.
void AwaitQuiet(pid_t pid);

// Memory of a process that no file stands behind; 0 if it cannot be found out.
int64_t AnonymousBytes(pid_t pid);

// Bytes of all files directly in a directory.
int64_t DirectoryBytes(const std::string& path);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_PROCESS_USAGE_H_
