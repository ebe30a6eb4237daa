#include "client/postgres/capture/stream/source_position.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/postgres/row/lsn.h"

namespace ttl::postgres {
namespace {

constexpr absl::string_view kKind = "postgresql";

}  // namespace

std::string FormatSourcePosition(const SourcePosition& position) {
  return absl::StrCat(kKind, "/", position.system_identifier, "/", position.timeline, "/",
                      FormatLsn(position.lsn));
}

std::optional<SourcePosition> ParseSourcePosition(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('/', 3));
  if (parts.size() != 4 || parts[0] != kKind) return std::nullopt;
  const auto lsn = ParseLsn(parts[3]);
  if (!lsn.ok()) return std::nullopt;
  return SourcePosition{parts[1], parts[2], *lsn};
}

std::string WhyChangesMayBeMissing(const std::optional<SourcePosition>& kept,
                                   const SourcePosition& start, uint64_t wal_end) {
  if (!kept.has_value()) {
    return "the sidecar does not say up to which position it knows the changes: it is new, was "
           "restored, or has lost its data";
  }
  if (kept->system_identifier != start.system_identifier) {
    return absl::StrCat("the sidecar knows the changes of the server with system identifier ",
                        kept->system_identifier, ", and this one has ", start.system_identifier);
  }
  if (kept->timeline != start.timeline) {
    return absl::StrCat("the sidecar knows the changes of timeline ", kept->timeline,
                        ", and the server is on timeline ", start.timeline,
                        ": another server took over, or the database was restored");
  }
  if (wal_end < kept->lsn) {
    return absl::StrCat("the WAL ends at ", FormatLsn(wal_end), ", before ", FormatLsn(kept->lsn),
                        " up to which the sidecar knows the changes: the database was restored, or "
                        "another server took over that lacks the last changes");
  }
  if (kept->lsn < start.lsn) {
    return absl::StrCat("the replication slot begins at ", FormatLsn(start.lsn), ", beyond ",
                        FormatLsn(kept->lsn),
                        " up to which the sidecar knows the changes: the slot was created again or "
                        "advanced by somebody else, or the sidecar was restored");
  }
  return "";
}

}  // namespace ttl::postgres
