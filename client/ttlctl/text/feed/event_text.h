#ifndef TTL_CLIENT_TTLCTL_TEXT_FEED_EVENT_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_FEED_EVENT_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ttl/v1/feed.pb.h"

// Human-readable text of events. Pure functions.
namespace ttl {

// The words for the kinds of events, with | between them.
extern const char* const kEventKindWords;

// "expired"; "kind 99 (newer than this ttlctl)".
std::string EventKindText(v1::EventKind kind);

// The kind of that word; UNSPECIFIED for other text.
v1::EventKind EventKindOf(absl::string_view word);

// One line: when it was logged, what happened, to which item of which container, and the rest.
std::string EventText(const v1::Event& event);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_FEED_EVENT_TEXT_H_
