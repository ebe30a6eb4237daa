#include "tests/bench/speed/load_requests.h"

#include <algorithm>

#include "tests/bench/speed/item_names.h"

namespace ttl::bench {
namespace {

constexpr int64_t kHour = 3600;

void AddCheck(uint64_t item, PreparedCheck& prepared) {
  v1::VisibilityCheck& check = *prepared.message.mutable_request()->add_checks();
  check.set_partition_key(PartitionKeyOf(item));
  check.set_id(IdOf(item));
  prepared.truth.push_back(TruthOf(item));
}

bool HasInstant(const v1::CheckVisibilityResponse& response) {
  return response.judged_at().seconds() > 0;
}

}  // namespace

v1::Visibility TruthOf(uint64_t item) {
  if (item % 100 == 50) return v1::VISIBILITY_UNTRACKED;
  return item % 10 == 9 ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE;
}

v1::TrackItemsRequest LoadRequest(uint64_t first, uint64_t end, int64_t now) {
  v1::TrackItemsRequest request;
  request.set_container(kLoadedContainer);
  for (uint64_t i = first; i < end; ++i) {
    const v1::Visibility truth = TruthOf(i);
    if (truth == v1::VISIBILITY_UNTRACKED) continue;
    v1::Item& item = *request.add_items();
    item.set_partition_key(PartitionKeyOf(i));
    item.set_id(IdOf(i));
    item.set_ts(now);
    if (truth == v1::VISIBILITY_VISIBLE) continue;
    item.set_ts(now - kHour);
    item.set_ttl(1);
  }
  return request;
}

RepeatedChecks::RepeatedChecks(uint64_t items, int keys, size_t count) : prepared_(count) {
  std::mt19937_64 random(items);
  for (PreparedCheck& prepared : prepared_) {
    prepared.message.mutable_request()->set_container(kLoadedContainer);
    for (int i = 0; i < keys; ++i) AddCheck(random() % items, prepared);
  }
}

const PreparedCheck& RepeatedChecks::Next(size_t /*slot*/) {
  return prepared_[next_++ % prepared_.size()];
}

DrawnChecks::DrawnChecks(uint64_t items, int keys, size_t slots)
    : items_(items), random_(std::random_device()()), slots_(slots) {
  for (PreparedCheck& prepared : slots_) {
    prepared.message.mutable_request()->set_container(kLoadedContainer);
    for (int i = 0; i < keys; ++i) AddCheck(0, prepared);
  }
}

const PreparedCheck& DrawnChecks::Next(size_t slot) {
  PreparedCheck& prepared = slots_[slot];
  for (size_t i = 0; i < prepared.truth.size(); ++i) {
    const uint64_t item = random_() % items_;
    v1::VisibilityCheck& check =
        *prepared.message.mutable_request()->mutable_checks(static_cast<int>(i));
    RenumberPartitionKey(*check.mutable_partition_key(), item);
    RenumberId(*check.mutable_id(), item);
    prepared.truth[i] = TruthOf(item);
  }
  return prepared;
}

TrackRequests::TrackRequests(int items, int64_t ts) {
  message_.mutable_request()->set_container(kTrackedContainer);
  for (int i = 0; i < items; ++i) {
    v1::Item& item = *message_.mutable_request()->add_items();
    item.set_partition_key(PartitionKeyOf(0));
    item.set_id(IdOf(0));
    item.set_ts(ts);
  }
}

const v1::StreamTrackItemsRequest& TrackRequests::Next() {
  for (v1::Item& item : *message_.mutable_request()->mutable_items()) {
    const uint64_t number = Scattered(sequence_++);
    RenumberPartitionKey(*item.mutable_partition_key(), number);
    RenumberId(*item.mutable_id(), number);
  }
  return message_;
}

bool IsRight(const v1::CheckVisibilityResponse& response, const PreparedCheck& prepared) {
  return std::equal(response.visibilities().begin(), response.visibilities().end(),
                    prepared.truth.begin(), prepared.truth.end()) &&
         response.expire_times_size() == response.visibilities_size() && HasInstant(response);
}

bool IsEcho(const v1::CheckVisibilityResponse& response, const PreparedCheck& prepared) {
  const size_t visible = static_cast<size_t>(std::count(
      response.visibilities().begin(), response.visibilities().end(), v1::VISIBILITY_VISIBLE));
  return visible == prepared.truth.size() &&
         response.expire_times_size() == response.visibilities_size() && HasInstant(response);
}

bool IsTracked(const v1::TrackItemsResponse& response, int items) {
  return response.results_size() == items &&
         std::count(response.results().begin(), response.results().end(),
                    v1::TRACK_RESULT_TRACKED) == items;
}

}  // namespace ttl::bench
