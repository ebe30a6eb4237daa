#include "tests/fault/feed_log_rules.h"

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

constexpr size_t kMostLogProblems = 20;

absl::Time TimeOf(const v1::Event& event) {
  return absl::FromUnixSeconds(event.event_time().seconds()) +
         absl::Nanoseconds(event.event_time().nanos());
}

FeedVersion VersionOf(const v1::Event& event) {
  return {event.container(), event.id(), event.ts()};
}

std::string VersionText(const FeedVersion& version) {
  const auto& [container, id, ts] = version;
  return absl::StrCat(container, "/", id, " of ts ", ts);
}

bool Closes(const v1::Event& event) {
  switch (event.kind()) {
    case v1::EVENT_KIND_PURGED:
    case v1::EVENT_KIND_GONE:
    case v1::EVENT_KIND_REVIVED:
    case v1::EVENT_KIND_REPLACED:
      return !event.superseded();
    default:
      return false;
  }
}

// Goes through a log once, in its order.
class LogReader {
 public:
  explicit LogReader(const StoreDeletes& deletes) : deletes_(deletes) {}

  void Read(const v1::Event& event) {
    if (event.kind() == v1::EVENT_KIND_EXPIRED) Open(event);
    if (event.kind() == v1::EVENT_KIND_PURGED) Purge(event);
    if (Closes(event)) Close(event);
  }

  void Finish(const std::vector<FeedVersion>& expired) {
    for (const auto& [version, sequence] : open_) Note(version, "is never closed");
    for (const auto& [version, time] : deletes_.first_asked) {
      const auto announced = first_told_.find(version);
      if (announced == first_told_.end()) {
        Note(version, "was sent to the store without an EXPIRED");
      } else if (announced->second > time) {
        Note(version,
             absl::StrCat("was sent to the store ", absl::FormatDuration(announced->second - time),
                          " before its EXPIRED"));
      }
    }
    for (const FeedVersion& version : expired) {
      if (!first_told_.contains(version)) Note(version, "has no EXPIRED");
    }
  }

  std::vector<std::string> problems;

 private:
  void Open(const v1::Event& event) {
    const FeedVersion version = VersionOf(event);
    const bool is_first = open_.emplace(version, event.sequence()).second;
    if (!is_first) Note(version, "has a second EXPIRED");
    first_told_.emplace(version, TimeOf(event));
  }

  void Purge(const v1::Event& event) {
    const auto deleted = deletes_.first_deleted.find(VersionOf(event));
    if (deleted == deletes_.first_deleted.end() || deleted->second > TimeOf(event)) {
      Note(VersionOf(event), "is PURGED and was not deleted by then");
    }
  }

  void Close(const v1::Event& event) {
    const FeedVersion version = VersionOf(event);
    const auto open = open_.find(version);
    if (open == open_.end() || open->second != event.expired_sequence()) {
      return Note(version, absl::StrCat("is closed by ", event.sequence(), " for ",
                                        event.expired_sequence(), ", which is not open"));
    }
    open_.erase(open);
  }

  void Note(const FeedVersion& version, const std::string& problem) {
    if (problems.size() < kMostLogProblems)
      problems.push_back(VersionText(version) + " " + problem);
  }

  const StoreDeletes& deletes_;
  std::map<FeedVersion, uint64_t> open_;  // with the sequence of the EXPIRED
  std::map<FeedVersion, absl::Time> first_told_;
};

}  // namespace

FeedCounts CountEvents(const std::map<uint64_t, v1::Event>& log) {
  FeedCounts counts;
  for (const auto& [sequence, event] : log) ++counts[event.kind()];
  return counts;
}

std::vector<std::string> FeedLogProblems(const std::map<uint64_t, v1::Event>& log,
                                         const StoreDeletes& deletes,
                                         const std::vector<FeedVersion>& expired) {
  LogReader reader(deletes);
  for (const auto& [sequence, event] : log) reader.Read(event);
  reader.Finish(expired);
  return reader.problems;
}

}  // namespace ttl
