#include "tests/testing/fake_item_service.h"

#include <grpcpp/server_builder.h>

#include <algorithm>
#include <utility>

namespace ttl {
namespace {

// Whether a report of `ts` and `sequence` is older than what is tracked.
template <typename Report>
bool IsStale(const v1::Item& tracked, const Report& report) {
  if (tracked.has_sequence() && report.has_sequence()) {
    return report.sequence() < tracked.sequence();
  }
  return report.ts() < tracked.ts();
}

}  // namespace

FakeItemService::FakeItemService(std::function<absl::Time()> clock) : clock_(std::move(clock)) {
  grpc::ServerBuilder builder;
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

FakeItemService::~FakeItemService() { server_->Shutdown(); }

std::shared_ptr<grpc::Channel> FakeItemService::channel() const {
  return server_->InProcessChannel(grpc::ChannelArguments());
}

void FakeItemService::SetContainer(const std::string& id, std::optional<int64_t> default_ttl) {
  const std::lock_guard<std::mutex> lock(mutex_);
  containers_[id] = default_ttl;
}

void FakeItemService::RemoveContainer(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  containers_.erase(id);
  touchable_.erase(id);
  const auto is_in_it = [&](const auto& entry) { return std::get<0>(entry.first) == id; };
  std::erase_if(items_, is_in_it);
  std::erase_if(touches_, is_in_it);
}

void FakeItemService::AllowTouch(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  touchable_.insert(id);
}

void FakeItemService::SetStatus(grpc::Status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  status_ = std::move(status);
}

void FakeItemService::LoseNextAnswer(Method method, grpc::Status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lost_answers_[method] = std::move(status);
}

void FakeItemService::BeforeNext(Method method, std::function<void()> hook) {
  const std::lock_guard<std::mutex> lock(mutex_);
  hooks_[method] = std::move(hook);
}

std::optional<v1::Item> FakeItemService::Find(const std::string& container,
                                              const std::string& partition_key,
                                              const std::string& id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = items_.find({container, partition_key, id});
  return found == items_.end() ? std::nullopt : std::make_optional(found->second);
}

std::vector<v1::ExpiredItem> FakeItemService::Expired(const std::string& container) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<v1::ExpiredItem> expired;
  for (const auto& [key, item] : items_) {
    if (std::get<0>(key) != container) continue;
    if (!IsExpired(key, item)) continue;
    const int64_t expire_time = *ExpireTime(key, item);
    v1::ExpiredItem entry;
    entry.set_partition_key(std::get<1>(key));
    entry.set_id(std::get<2>(key));
    entry.set_ts(item.ts());
    if (item.has_ttl()) entry.set_ttl(item.ttl());
    entry.set_etag(item.etag());
    entry.set_effective_ttl(item.has_ttl() ? item.ttl() : *containers_.at(container));
    entry.set_ttl_source(item.has_ttl() ? v1::TTL_SOURCE_ITEM : v1::TTL_SOURCE_CONTAINER);
    entry.set_expire_time(expire_time);
    expired.push_back(std::move(entry));
  }
  return expired;
}

std::vector<uint64_t> FakeItemService::reported() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return reported_;
}

int FakeItemService::calls(Method method) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = calls_.find(method);
  return found == calls_.end() ? 0 : found->second;
}

grpc::Status FakeItemService::TrackItems(grpc::ServerContext*, const v1::TrackItemsRequest* request,
                                         v1::TrackItemsResponse* response) {
  if (auto status = Enter(Method::kTrack, request->container()); !status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const v1::Item& item : request->items()) {
    if (clock_() + absl::Hours(24) < absl::FromUnixSeconds(item.ts())) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "ts is more than a day ahead"};
    }
  }
  for (const v1::Item& item : request->items()) {
    const Key key{request->container(), item.partition_key(), item.id()};
    const auto tracked = items_.find(key);
    const bool stale = tracked != items_.end() && IsStale(tracked->second, item);
    if (!stale) items_[key] = item;
    reported_.push_back(item.sequence());
    response->add_results(stale ? v1::TRACK_RESULT_STALE : v1::TRACK_RESULT_TRACKED);
  }
  return Leave(Method::kTrack);
}

grpc::Status FakeItemService::UntrackItems(grpc::ServerContext*,
                                           const v1::UntrackItemsRequest* request,
                                           v1::UntrackItemsResponse* response) {
  if (auto status = Enter(Method::kUntrack, request->container()); !status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const v1::ItemDeletion& deletion : request->items()) {
    reported_.push_back(deletion.sequence());
    const auto tracked =
        items_.find({request->container(), deletion.partition_key(), deletion.id()});
    if (tracked == items_.end()) {
      response->add_results(v1::UNTRACK_RESULT_NOT_TRACKED);
    } else if (IsStale(tracked->second, deletion)) {
      response->add_results(v1::UNTRACK_RESULT_STALE);
    } else {
      touches_.erase(tracked->first);
      items_.erase(tracked);
      response->add_results(v1::UNTRACK_RESULT_UNTRACKED);
    }
  }
  return Leave(Method::kUntrack);
}

grpc::Status FakeItemService::TouchItems(grpc::ServerContext*, const v1::TouchItemsRequest* request,
                                         v1::TouchItemsResponse* response) {
  if (auto status = Enter(Method::kTouch, request->container()); !status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!touchable_.contains(request->container())) {
    return {grpc::StatusCode::FAILED_PRECONDITION, "the container has no allow_touch"};
  }
  response->set_touch_time(absl::ToUnixSeconds(clock_()));
  for (const v1::ItemKey& item : request->keys()) {
    const Key key{request->container(), item.partition_key(), item.id()};
    response->add_results(Touch(key, request->unless_touched_within().seconds()));
    const auto tracked = items_.find(key);
    const bool is_tracked = tracked != items_.end();
    response->add_expire_times(is_tracked ? ExpireTime(key, tracked->second).value_or(0) : 0);
  }
  return Leave(Method::kTouch);
}

v1::TouchResult FakeItemService::Touch(const Key& key, int64_t unless_touched_within) {
  const auto tracked = items_.find(key);
  if (tracked == items_.end()) return v1::TOUCH_RESULT_NOT_TRACKED;
  if (IsExpired(key, tracked->second)) return v1::TOUCH_RESULT_EXPIRED;
  const int64_t now = absl::ToUnixSeconds(clock_());
  int64_t& touched = touches_[key];
  if (now - std::max(touched, tracked->second.ts()) < unless_touched_within) {
    return v1::TOUCH_RESULT_RECENT;
  }
  touched = now;
  return v1::TOUCH_RESULT_TOUCHED;
}

grpc::Status FakeItemService::CheckVisibility(grpc::ServerContext*,
                                              const v1::CheckVisibilityRequest* request,
                                              v1::CheckVisibilityResponse* response) {
  if (auto status = Enter(Method::kCheck, request->container()); !status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  response->mutable_judged_at()->set_seconds(absl::ToUnixSeconds(clock_()));
  for (const v1::VisibilityCheck& check : request->checks()) {
    v1::Item carried;
    carried.set_ts(check.ts());
    if (check.has_ttl()) carried.set_ttl(check.ttl());
    const Key key{request->container(), check.partition_key(), check.id()};
    const auto tracked = items_.find(key);
    const bool use_tracked =
        tracked != items_.end() && (!check.has_ts() || tracked->second.ts() > check.ts());
    const v1::Item& judged = use_tracked ? tracked->second : carried;
    const bool expired = IsExpired(key, judged);
    const bool may_be_touched =
        expired && tracked == items_.end() && touchable_.contains(request->container());
    if ((!use_tracked && !check.has_ts()) || may_be_touched) {
      response->add_visibilities(v1::VISIBILITY_UNTRACKED);
      response->add_expire_times(0);
      continue;
    }
    response->add_visibilities(expired ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE);
    response->add_expire_times(ExpireTime(key, judged).value_or(0));
  }
  return Leave(Method::kCheck);
}

grpc::Status FakeItemService::Enter(Method method, const std::string& container) {
  std::function<void()> hook;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++calls_[method];
    std::swap(hook, hooks_[method]);
  }
  if (hook) hook();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!status_.ok()) return status_;
  if (!containers_.contains(container)) return {grpc::StatusCode::NOT_FOUND, "no such container"};
  return grpc::Status::OK;
}

grpc::Status FakeItemService::Leave(Method method) {
  return std::exchange(lost_answers_[method], grpc::Status::OK);
}

std::optional<int64_t> FakeItemService::ExpireTime(const Key& key, const v1::Item& item) const {
  const auto found = containers_.find(std::get<0>(key));
  if (found == containers_.end() || !found->second) return std::nullopt;
  const int64_t ttl = item.has_ttl() ? item.ttl() : *found->second;
  if (ttl == -1) return std::nullopt;
  const auto touched = touches_.find(key);
  return std::max(item.ts(), touched == touches_.end() ? 0 : touched->second) + ttl;
}

bool FakeItemService::IsExpired(const Key& key, const v1::Item& item) const {
  const auto expire_time = ExpireTime(key, item);
  return expire_time.has_value() && clock_() >= absl::FromUnixSeconds(*expire_time);
}

}  // namespace ttl
