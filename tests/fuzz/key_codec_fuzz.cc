// Keys of the database: a key that can be read is written again as it was, and two items
// never share one.

#include "service/storage/format/key_codec.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

void ReadKey(absl::string_view encoded) {
  const uint64_t number = DecodeNumber(encoded).value_or(0);
  if (const auto key = DecodeItemKey(encoded)) {
    Require(EncodeItemKey(number, *key) == encoded, "an item's key is written as it was");
  }
  if (const auto entry = DecodeIndexKey(encoded)) {
    Require(EncodeIndexKey(number, entry->family, entry->time, entry->key) == encoded,
            "an index key is written as it was");
  }
}

// One entry of an index, made up.
struct Place {
  explicit Place(FuzzInput& input)
      : number(input.TakeNumber()),
        time(static_cast<int64_t>(input.TakeNumber() >> 1)),
        key{std::string(input.TakeText()), std::string(input.TakeText())} {}

  uint64_t number;
  int64_t time;
  ItemKey key;
};

void CompareKeys(const Place& a, const Place& b) {
  const std::string item_a = EncodeItemKey(a.number, a.key);
  const std::string item_b = EncodeItemKey(b.number, b.key);
  Require(item_a.size() == ItemKeySize(a.key.partition_key, a.key.id), "length as foretold");
  Require((item_a == item_b) == (a.number == b.number && a.key == b.key), "one key for one item");
  if (a.number != b.number) {
    Require((item_a < item_b) == (a.number < b.number), "containers in the order of numbers");
    Require(item_b.compare(0, 9, ItemPrefix(a.number)) != 0, "no item of another container");
  }
  if (a.time == b.time) return;
  const std::string entry_a = EncodeIndexKey(1, IndexFamily::kTs, a.time, a.key);
  const std::string entry_b = EncodeIndexKey(1, IndexFamily::kTs, b.time, b.key);
  Require((entry_a < entry_b) == (a.time < b.time), "entries in the order of time");
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ttl::ReadKey(absl::string_view(reinterpret_cast<const char*>(data), size));
  ttl::FuzzInput input(data, size);
  const ttl::Place a(input);
  const ttl::Place b(input);
  ttl::CompareKeys(a, b);
  return 0;
}
