#ifndef TTL_SERVICE_STORAGE_FORMAT_FEED_CODEC_H_
#define TTL_SERVICE_STORAGE_FORMAT_FEED_CODEC_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/core/feed/feed_event.h"
#include "service/core/feed/subscription.h"

// Encodes and decodes the records of feeds, as record_codec.h does the others. Decoding returns
// DATA_LOSS for damaged bytes. Pure functions.
namespace ttl {

// The fact that says which sequences of events may have been given out: all that are smaller.
// Absent: none.
inline constexpr absl::string_view kNextEventFact = "next_event";

// The fact that says how many seconds the server has run in all while a gate could be given up,
// over restarts. Absent: none.
inline constexpr absl::string_view kServedSecondsFact = "served_seconds";

// Without the sequence, which is in the key.
std::string EncodeEvent(const FeedEvent& event);
absl::StatusOr<FeedEvent> DecodeEvent(uint64_t sequence, absl::string_view bytes);

// The sequence of the last event of a feed that was dropped.
std::string EncodeFeedTrim(uint64_t dropped_sequence);
absl::StatusOr<uint64_t> DecodeFeedTrim(absl::string_view bytes);

// Without the name, which is in the key.
std::string EncodeSubscription(const Subscription& subscription);
absl::StatusOr<Subscription> DecodeSubscription(absl::string_view name, absl::string_view bytes);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_FEED_CODEC_H_
