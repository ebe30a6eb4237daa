// Keeps cores busy to a given share and does nothing else.
//
//   burner --cores 0.7
//
// In bursts, a hundred times a second, over two threads, as a sweep does. Runs until it is
// killed.
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <thread>

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr int kThreads = 2;
constexpr nanoseconds kPeriod = std::chrono::milliseconds(10);

nanoseconds UsedByThisThread() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + nanoseconds(used.tv_nsec);
}

// What a period did not get for want of a processor is not made up for.
[[noreturn]] void Burn(nanoseconds burst) {
  for (auto next = steady_clock::now();; next = std::max(next + kPeriod, steady_clock::now())) {
    std::this_thread::sleep_until(next);
    const nanoseconds end = UsedByThisThread() + burst;
    while (UsedByThisThread() < end && steady_clock::now() < next + kPeriod) {
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  double cores = 0;
  CLI::App app("A busy machine");
  app.add_option("--cores", cores, "To keep busy")->required()->check(CLI::Range(0.0, 2.0));
  CLI11_PARSE(app, argc, argv);
  const auto burst = std::chrono::duration_cast<nanoseconds>(kPeriod * (cores / kThreads));
  std::thread other(Burn, burst);
  Burn(burst);
}
