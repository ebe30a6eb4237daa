// Values of the database: damage is refused, or read as something that could have been
// written; what is read is written again with the same meaning.

#include <initializer_list>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "service/core/ttl_rules.h"
#include "service/storage/format/feed_codec.h"
#include "service/storage/format/record_codec.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

// That writing what was read and reading it again changes nothing.
template <typename Decode, typename Encode>
void RoundTrip(absl::string_view bytes, const Decode& decode, const Encode& encode) {
  const auto read = decode(bytes);
  if (!read.ok()) return;
  const std::string written = encode(*read);
  const auto again = decode(written);
  Require(again.ok(), "what was written can be read");
  Require(encode(*again) == written, "and is written the same");
}

void ReadItem(absl::string_view bytes) {
  RoundTrip(bytes, DecodeStoredItem, EncodeItem);
  const absl::StatusOr<StoredItem> item = DecodeStoredItem(bytes);
  if (!item.ok()) return;
  const ItemTimes& times = item->version.times;
  using Ttl = std::optional<int64_t>;
  for (const Ttl& default_ttl : {Ttl(), Ttl(kNeverExpires), Ttl(1), Ttl(kMaxTtl)}) {
    const std::optional<int64_t> expire_time = ExpireTime(default_ttl, times);
    // An expire_at may be in the past of the write.
    Require(!expire_time.has_value() || times.expire_at.has_value() || *expire_time >= times.ts,
            "nothing expires before it is written");
    MaxEarliness(default_ttl, times);
  }
  BelongsAt(1, *item);
}

void ReadContainer(absl::string_view bytes) {
  const auto decode = [](absl::string_view value) { return DecodeContainer(7, value); };
  RoundTrip(bytes, decode, EncodeContainer);
  const absl::StatusOr<Container> container = decode(bytes);
  if (container.ok()) Require(ValidateSettings(container->settings).ok(), "settings can be");
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ttl;
  FuzzInput input(data, size);
  const uint8_t kind = input.TakeByte();
  const absl::string_view bytes = input.rest();
  switch (kind % 16) {
    case 0:
      ReadItem(bytes);
      break;
    case 1:
      ReadContainer(bytes);
      break;
    case 2:
      RoundTrip(bytes, DecodePause, EncodePause);
      break;
    case 3:
      RoundTrip(bytes, DecodeClockMemory, EncodeClockMemory);
      break;
    case 4:
      RoundTrip(bytes, DecodePurge, EncodePurge);
      break;
    case 5:
      RoundTrip(bytes, DecodeStore, EncodeStore);
      break;
    case 6:
      RoundTrip(bytes, DecodeStoreDoubt, EncodeStoreDoubt);
      break;
    case 7:
      RoundTrip(bytes, DecodeDataDoubt, EncodeDataDoubt);
      break;
    case 8:
      RoundTrip(bytes, DecodeDeleteLimit, EncodeDeleteLimit);
      break;
    case 9:
      RoundTrip(bytes, DecodeTotals, EncodeTotals);
      break;
    case 10:
      RoundTrip(bytes, DecodeDeleteDeadline, EncodeDeleteDeadline);
      break;
    case 11:
      RoundTrip(bytes, DecodeSourcePosition, EncodeSourcePosition);
      break;
    case 12:
      RoundTrip(
          bytes, [](absl::string_view value) { return DecodeEvent(7, value); }, EncodeEvent);
      break;
    case 13:
      RoundTrip(bytes, DecodeFeedTrim, EncodeFeedTrim);
      break;
    case 14:
      RoundTrip(
          bytes, [](absl::string_view value) { return DecodeSubscription("s", value); },
          EncodeSubscription);
      break;
    default:
      RoundTrip(bytes, DecodeAppliedEntry, EncodeAppliedEntry);
  }
  return 0;
}
