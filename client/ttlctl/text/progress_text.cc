#include "client/ttlctl/text/progress_text.h"

#include "absl/strings/str_cat.h"
#include "client/ttlctl/text/format.h"

namespace ttl {

int64_t ExpectedRecords(const v1::ListExpiryStatusesResponse& statuses) {
  int64_t records = 0;
  for (const v1::ContainerExpiryStatus& status : statuses.containers()) {
    const bool has_index = status.index_progress().state() == v1::INDEX_STATE_READY ||
                           status.index_progress().state() == v1::INDEX_STATE_BUILDING;
    records += status.items().tracked_items() * (has_index ? 2 : 1);
  }
  return records;
}

std::string ShareText(int64_t done, int64_t total, absl::Duration elapsed) {
  if (total <= 0 || done < 0 || done > total) return "";
  const double share = static_cast<double>(done) / static_cast<double>(total);
  std::string text =
      absl::StrCat(static_cast<int>(share * 100), " % of about ", FormatCount(total));
  if (elapsed < absl::Seconds(1) || done == 0) return text;
  const absl::Duration left = elapsed * ((1 - share) / share);
  return absl::StrCat(text, ", ", FormatSpan(absl::Trunc(left, absl::Seconds(1))), " left");
}

}  // namespace ttl
