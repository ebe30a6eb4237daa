// Page tokens, which clients send back: one that is accepted names one position, and no
// token is accepted by another kind of list.

#include "service/rpc/mapping/page_token.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

void ReadToken(absl::string_view token) {
  const auto id = ReadContainerPageToken(token);
  const auto key = ReadItemPageToken(token);
  const auto position = ReadStuckPageToken(token);
  const auto hold = ReadHoldPageToken(token);
  const auto held = ReadHeldKeyPageToken(token);
  if (!token.empty()) {
    Require(id.ok() + key.ok() + position.ok() + hold.ok() + held.ok() <= 1, "one kind of list");
    if (hold.ok()) Require(*ReadHoldPageToken(HoldPageToken(*hold)) == *hold, "the same hold");
    if (held.ok())
      Require(*ReadHeldKeyPageToken(HeldKeyPageToken(**held)) == *held, "the same key");
  }
  if (id.ok() && !id->empty()) {
    Require(*ReadContainerPageToken(ContainerPageToken(*id)) == *id, "the same id");
  }
  if (key.ok() && key->has_value()) {
    // Tokens of former versions have no instant, and are not made any more.
    const absl::Time judged_at = (*key)->judged_at.value_or(absl::UnixEpoch());
    const ItemPosition expected{(*key)->last, judged_at};
    Require(*ReadItemPageToken(ItemPageToken(expected.last, judged_at)) == expected,
            "the same key");
  }
  if (position.ok() && position->has_value()) {
    const auto again = ReadStuckPageToken(StuckPageToken(**position));
    Require(again.ok() && again->has_value() && (*again)->key == (*position)->key &&
                (*again)->next_try_time == (*position)->next_try_time,
            "the same position");
  }
}

void MakeTokens(FuzzInput input) {
  const auto time = static_cast<int64_t>(input.TakeNumber() >> 1);
  const ItemKey key{std::string(input.TakeText()), std::string(input.TakeText())};
  const ItemPosition position{key, absl::FromUnixNanos(time)};
  const auto item = ReadItemPageToken(ItemPageToken(key, *position.judged_at));
  Require(item.ok() && *item == position, "an item's token is read");
  const auto stuck = ReadStuckPageToken(StuckPageToken({time, key}));
  Require(stuck.ok() && stuck->has_value() && (*stuck)->key == key, "a stuck item's token is read");
  const auto held = ReadHeldKeyPageToken(HeldKeyPageToken(key));
  Require(held.ok() && *held == key, "a held key's token is read");
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ttl::ReadToken(absl::string_view(reinterpret_cast<const char*>(data), size));
  ttl::MakeTokens(ttl::FuzzInput(data, size));
  return 0;
}
