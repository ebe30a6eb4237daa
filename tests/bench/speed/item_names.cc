#include "tests/bench/speed/item_names.h"

#include "absl/strings/str_format.h"

namespace ttl::bench {
namespace {

constexpr int kPartitionDigits = 10;
constexpr int kIdDigits = 12;
constexpr uint64_t kItemsPerPartition = 100;
constexpr int kIdBytes = 5 + kIdDigits;  // "item-..."

void WriteDigits(char* end, int digits, uint64_t number) {
  for (int i = 1; i <= digits; ++i) {
    end[-i] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

}  // namespace

std::string PartitionKeyOf(uint64_t item) {
  return absl::StrFormat("tenant-%0*d", kPartitionDigits, item / kItemsPerPartition);
}

std::string IdOf(uint64_t item) { return absl::StrFormat("item-%0*d", kIdDigits, item); }

void RenumberPartitionKey(std::string& partition_key, uint64_t item) {
  WriteDigits(partition_key.data() + partition_key.size(), kPartitionDigits,
              item / kItemsPerPartition);
}

void RenumberId(std::string& id, uint64_t item) {
  WriteDigits(id.data() + id.size(), kIdDigits, item);
}

std::string JoinedKeyOf(uint64_t item) { return PartitionKeyOf(item) + ":" + IdOf(item); }

void RenumberJoinedKey(char* end, uint64_t item) {
  WriteDigits(end, kIdDigits, item);
  WriteDigits(end - kIdBytes - 1, kPartitionDigits, item / kItemsPerPartition);
}

void RenumberDatabaseKey(std::string& key, uint64_t item) {
  char* const end = key.data() + key.size();
  WriteDigits(end, kIdDigits, item);
  WriteDigits(end - kIdBytes, kPartitionDigits, item / kItemsPerPartition);
}

uint64_t Scattered(uint64_t sequence) { return (sequence * 2654435761u) & 0xffffffffu; }

}  // namespace ttl::bench
