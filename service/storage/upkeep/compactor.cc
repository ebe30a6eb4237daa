#include "service/storage/upkeep/compactor.h"

#include <algorithm>
#include <utility>

#include "service/storage/format/key_codec.h"

namespace ttl {
namespace {

// Compacted at once. A stop waits for no more than that.
constexpr uint64_t kSliceBytes = uint64_t{32} << 20;

// A compaction writes its output before it gives its input back.
constexpr int64_t kFreeBytesNeeded = 4 * static_cast<int64_t>(kSliceBytes);

bool IsIndex(const std::string& prefix) { return prefix[0] == kIndexTable; }

bool IsFeed(const std::string& prefix) { return prefix[0] == kEventTable; }

// Whether it is the family of the items that are set aside.
bool IsSetAside(const std::string& prefix) {
  return IsIndex(prefix) && prefix.back() == static_cast<char>(IndexFamily::kHeld);
}

}  // namespace

bool Compactor::RunOnce() {
  if (!rest_.has_value()) rest_ = Choose();
  if (!rest_.has_value() || parts_.database.FreeBytes() < kFreeBytesNeeded) return false;
  const std::string end = SliceEnd(*rest_);
  parts_.database.CompactRange(rest_->from, end);
  rest_->from = end;
  if (rest_->from >= rest_->to) rest_.reset();
  return true;
}

std::optional<Compactor::Range> Compactor::Choose() {
  for (const TombstoneCounts::Range& range : parts_.tombstones.FindAtLeast(kMinErased)) {
    const std::string& prefix = range.prefix;
    if (IsFeed(prefix)) {
      const Range dropped = {prefix, EndOfDropped(prefix)};
      const bool is_off = dropped.to == PrefixEnd(prefix);
      is_off ? parts_.tombstones.Clear(prefix) : parts_.tombstones.ClearFront(prefix);
      return dropped;
    }
    // What is set aside has no order in time, so nothing is known to be empty at its front.
    if (IsSetAside(prefix) || range.erased >= std::max(kMinErased, LiveItems(prefix))) {
      parts_.tombstones.Clear(prefix);
      return Range{prefix, PrefixEnd(prefix)};
    }
    if (!IsIndex(prefix)) continue;
    parts_.tombstones.ClearFront(prefix);
    const uint64_t index = DecodeNumber(prefix).value_or(0);
    const auto family = static_cast<IndexFamily>(prefix.back());
    return Range{prefix, IndexSeekKey(index, family, parts_.marks.Get(index, family).time)};
  }
  return std::nullopt;
}

// Where the existing events of a feed begin.
std::string Compactor::EndOfDropped(const std::string& events) const {
  const uint64_t feed = DecodeNumber(events).value_or(0);
  const std::optional<FeedLog::State> state = parts_.feed_log.Find(feed);
  return state.has_value() ? EventKey(feed, state->dropped_sequence + 1) : PrefixEnd(events);
}

int64_t Compactor::LiveItems(const std::string& prefix) const {
  const uint64_t number = DecodeNumber(prefix).value_or(0);
  if (!IsIndex(prefix)) return parts_.tallies.Tracked(number).items;
  for (const ContainerPtr& container : parts_.catalog.All()) {
    if (container->index_number == number) return parts_.tallies.Tracked(container->number).items;
  }
  return 0;
}

// The longest prefix of keys with at most a slice before it is grown byte by byte, until
// there is about half a slice before it.
std::string Compactor::SliceEnd(const Range& range) const {
  const auto fits = [&](const std::string& end) {
    return parts_.database.ApproximateBytes(range.from, end) <= kSliceBytes;
  };
  if (fits(range.to)) return range.to;
  std::string end = range.to.substr(0, 1);
  while (end.size() < kMaxKeyBytes) {
    int least = 0;
    int beyond = 256;
    while (beyond - least > 1) {
      const int middle = (least + beyond) / 2;
      (fits(end + static_cast<char>(middle)) ? least : beyond) = middle;
    }
    end.push_back(static_cast<char>(least));
    if (end > range.from && parts_.database.ApproximateBytes(range.from, end) >= kSliceBytes / 2) {
      return end;
    }
  }
  return range.to;
}

}  // namespace ttl
