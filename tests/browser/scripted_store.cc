// A primary store in memory for tests in other languages. Prints its gRPC address, then does what
// each line of standard input says, and answers "done"; ends with its input. The fields of a line
// are separated by tabs, and ids are in hexadecimal digits:
//
//   put CONTAINER ID TS           the store has this item
//   poison CONTAINER ID REASON    its deletes fail
#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/clock.h>

#include <iostream>
#include <string>
#include <vector>

#include "tests/testing/fake_primary_store.h"

namespace {

bool Do(const std::vector<std::string>& fields, ttl::FakePrimaryStore& store) {
  if (fields.size() != 4) return false;
  const ttl::ItemKey key = {"", absl::HexStringToBytes(fields[2])};
  if (fields[0] == "poison") {
    store.Poison(fields[1], key, fields[3]);
    return true;
  }
  ttl::ItemVersion version;
  if (fields[0] != "put" || !absl::SimpleAtoi(fields[3], &version.times.ts)) return false;
  store.Put(fields[1], key, version);
  return true;
}

}  // namespace

int main() {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  ttl::FakePrimaryStore store([] { return absl::Now(); });
  store.SetScanMessageItems(1);
  std::cout << store.address() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (!Do(absl::StrSplit(line, '\t'), store)) {
      std::cerr << "not understood: " << line << "\n";
      return 1;
    }
    std::cout << "done" << std::endl;
  }
}
