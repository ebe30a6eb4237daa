#include "client/ttlctl/text/preview_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/text/container_text.h"
#include "client/ttlctl/text/count_text.h"
#include "client/ttlctl/text/format.h"

namespace ttl {

std::string PreviewText(const v1::UpdateContainerResponse& response) {
  const v1::PolicyPreview& preview = response.preview();
  const int64_t bound = preview.error_bound_items();
  std::vector<std::pair<std::string, std::string>> fields = {
      {"container", absl::StrCat(response.container().id(), " (nothing was changed)")},
      {"default ttl", DefaultTtlText(response.container())},
      {"tracked", absl::StrCat(FormatCount(preview.tracked_items()), " items")},
      {"at once",
       absl::StrCat(AboutText(preview.newly_expired_items(), bound), " would be hidden\n",
                    AboutText(preview.newly_visible_items(), bound), " would be shown again\n",
                    AboutText(preview.newly_due_items(), bound),
                    " would be due for deletion, after the server's grace")},
      {"then", absl::StrCat(ForecastText(preview.expiring_per_hour()), " would expire")},
  };
  if (preview.brake_would_pull()) {
    fields.emplace_back("brake",
                        "WOULD STOP the deletion of the newly due items until it is "
                        "confirmed or lets go");
  }
  if (bound != 0) {
    fields.emplace_back("accuracy",
                        absl::StrCat("each figure may be off by ", FormatCount(bound), " items"));
  }
  if (!preview.complete()) {
    fields.emplace_back("", "NOT ALL ITEMS ARE COUNTED YET after the start: there may be more");
  }
  return FormatFields(fields);
}

std::string PreviewText(const v1::Container& container,
                        const v1::PreviewContainerResponse& preview) {
  std::vector<std::pair<std::string, std::string>> fields = {
      {"container", absl::StrCat(container.id(), " (nothing was created)")},
      {"default ttl", DefaultTtlText(container)},
      {"in the store", absl::StrCat(FormatCount(preview.scanned_items()), " items")},
      {"at once", absl::StrCat(FormatCount(preview.expired_items()), " would be hidden\n",
                               FormatCount(preview.due_items()),
                               " would be deleted, after the server's grace")},
  };
  if (preview.brake_would_pull()) {
    fields.emplace_back("brake", "WOULD STOP their deletion until it is confirmed or lets go");
  }
  if (preview.invalid_items() != 0) {
    fields.emplace_back("invalid", absl::StrCat(FormatCount(preview.invalid_items()),
                                                " could not be tracked and would be left alone"));
  }
  return FormatFields(fields);
}

}  // namespace ttl
