#include "service/expiry/store/store_preview.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/core/due_rules.h"
#include "service/core/ttl_rules.h"
#include "service/expiry/store/scanned_page.h"

namespace ttl {
namespace {

// A page takes a tenth of a second, so that a step is short at every rate.
constexpr double kPagesPerSecond = 10;
constexpr double kMaxPageItems = 1000;

class StorePreview {
 public:
  StorePreview(PrimaryStoreClient& store, const GuardedClock& clock,
               const StorePreviewOptions& options, std::string container,
               ContainerSettings settings)
      : store_(store),
        clock_(clock),
        options_(options),
        container_(std::move(container)),
        settings_(std::move(settings)),
        rule_(ComputeDueRule(settings_.policy, {}, absl::InfinitePast())),
        page_items_(
            std::clamp(options.max_items_per_second / kPagesPerSecond, 1.0, kMaxPageItems)) {}

  absl::Status Step(AdoptionPreview& preview) {
    const int64_t before = preview.scanned;
    const absl::Time began = absl::Now();
    TTL_RETURN_IF_ERROR(ReadPage(preview));
    const double read = static_cast<double>(preview.scanned - before);
    absl::SleepFor(absl::Seconds(read / options_.max_items_per_second) - (absl::Now() - began));
    return absl::OkStatus();
  }

 private:
  absl::Status ReadPage(AdoptionPreview& preview) {
    v1::ScanItemsRequest request;
    request.set_container(container_);
    request.set_page_token(page_token_);
    request.set_max_items(static_cast<int32_t>(page_items_));
    absl::Status taken =
        MakeError(Reason::kStoreAnswerInvalid, "the store's scan ended without a message");
    const absl::Status read = store_.ScanItems(request, options_.page_deadline,
                                               [&](const v1::ScanItemsResponse& response) {
                                                 taken = Take(response, preview);
                                                 return false;
                                               });
    if (absl::IsUnimplemented(read)) {
      return MakeError(Reason::kScanNotSupported,
                       "cannot preview: the store does not implement ScanItems");
    }
    if (absl::IsNotFound(read)) {  // the store has no item of the container
      preview.finished = true;
      return absl::OkStatus();
    }
    if (!read.ok()) {
      return MakeError(Reason::kStoreUnavailable,
                       absl::StrCat("cannot preview: the store's scan failed: ",
                                    read.ToString(absl::StatusToStringMode::kWithNoExtraData)));
    }
    return taken;
  }

  absl::Status Take(const v1::ScanItemsResponse& response, AdoptionPreview& preview) {
    const JudgingTime time = clock_.Read();
    TTL_ASSIGN_OR_RETURN(ScannedPage page,
                         ReadScannedPage(container_, response, page_token_, time.latest,
                                         IllegalTtlOf(settings_.policy)));
    for (const ItemReport& item : page.items) {
      const ItemTimes& times = item.version.times;
      const auto expire_time = ExpireTime(settings_.policy.default_ttl, times);
      if (IsExpiredAt(expire_time, time.now)) ++preview.expired;
      if (IsExpiredAt(DueTime(rule_, times), time.now)) ++preview.due;
    }
    preview.scanned += response.items_size();
    preview.invalid += static_cast<int64_t>(page.impossible.size());
    if (response.has_estimated_items()) preview.estimated = response.estimated_items();
    page_token_ = std::move(page.next_page_token);
    preview.finished = page_token_.empty();
    return absl::OkStatus();
  }

  PrimaryStoreClient& store_;
  const GuardedClock& clock_;
  const StorePreviewOptions options_;
  const std::string container_;
  const ContainerSettings settings_;
  const DueRule rule_;
  const double page_items_;
  std::string page_token_;
};

}  // namespace

AdoptionPreviewStep PreviewStore(PrimaryStoreClient& store, const GuardedClock& clock,
                                 const StorePreviewOptions& options, std::string container,
                                 ContainerSettings settings) {
  auto preview = std::make_unique<StorePreview>(store, clock, options, std::move(container),
                                                std::move(settings));
  return [preview = std::move(preview)](AdoptionPreview& counts) { return preview->Step(counts); };
}

}  // namespace ttl
