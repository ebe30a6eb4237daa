#include "client/postgres/capture/reports/report_batch.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ttl::postgres {
namespace {

// Approximate size of a report's numbers, etag and tags.
constexpr size_t kBytesBesideKey = 64;

std::string KeyOf(const v1::Item& item) {
  return absl::StrCat(item.partition_key().size(), ":", item.partition_key(), item.id());
}

size_t SizeOf(const v1::Item& item) {
  return item.partition_key().size() + item.id().size() + kBytesBesideKey;
}

}  // namespace

bool ReportBatch::Add(Report&& report) {
  const auto [place, is_new] = places_.try_emplace(KeyOf(report.item), reports_.size());
  if (is_new) {
    bytes_ += SizeOf(report.item);
    reports_.push_back(std::move(report));
    return true;
  }
  Report& before = reports_[place->second];
  if (report.item.sequence() >= before.item.sequence()) {
    before = std::move(report);
    return true;
  }
  // The sidecar would ignore the older report, so it is dropped. After a delete the sidecar has
  // nothing to compare it with, so the report must follow in another batch.
  return !before.is_gone || report.is_gone;
}

std::vector<v1::StreamTrackItemsRequest> ReportBatch::Take() {
  v1::StreamTrackItemsRequest gone;
  v1::StreamTrackItemsRequest adopted;
  v1::StreamTrackItemsRequest tracked;
  for (Report& report : reports_) {
    if (report.is_gone) {
      v1::ItemDeletion& deletion = *gone.mutable_untrack()->add_items();
      deletion.set_partition_key(std::move(*report.item.mutable_partition_key()));
      deletion.set_id(std::move(*report.item.mutable_id()));
      deletion.set_sequence(report.item.sequence());
    } else {
      v1::StreamTrackItemsRequest& message = report.is_adopted ? adopted : tracked;
      *message.mutable_request()->add_items() = std::move(report.item);
    }
  }
  reports_.clear();
  places_.clear();
  bytes_ = 0;
  std::vector<v1::StreamTrackItemsRequest> messages;
  if (gone.has_untrack()) {
    gone.mutable_untrack()->set_container(container_);
    messages.push_back(std::move(gone));
  }
  if (adopted.has_request()) adopted.mutable_request()->set_adopted(true);
  for (v1::StreamTrackItemsRequest* message : {&adopted, &tracked}) {
    if (!message->has_request()) continue;
    message->mutable_request()->set_container(container_);
    messages.push_back(std::move(*message));
  }
  return messages;
}

}  // namespace ttl::postgres
