#include "service/server/grpc_services.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "service/transport/reflection_service.h"

namespace ttl {
namespace {

ExpiryView::Parts MakeViewParts(const ServerConfig& config, Data& data, Deleting& deleting) {
  return {.storage = data.storage(),
          .clock = data.clock(),
          .system_clock = data.system_clock(),
          .published = deleting.published(),
          .usage = deleting.usage(),
          .limit = deleting.levers().limit(),
          .trust = deleting.levers().store_trust(),
          .container_max_deletes_per_second = config.container_max_deletes_per_second};
}

}  // namespace

GrpcServices::GrpcServices(const ServerConfig& config, Data& data, Deleting& deleting)
    : config_(config),
      data_(data),
      deleting_(deleting),
      view_parts_(MakeViewParts(config, data, deleting)),
      feed_view_(
          {.feed = data.storage().feed(), .progress = deleting.feed_progress(), .sent = sent_}),
      overdue_(view_parts_, feed_view_, data.start_steady()),
      container_(data.storage().containers(), data.storage().holds(), data.storage().feed(),
                 data.storage().tallies(), data.clock(), deleting.usage(),
                 ContainerServiceOptions{.policy_grace = config.policy_grace}),
      item_calls_(data.storage().containers(), data.storage().items(), data.storage().touches(),
                  data.storage().holds(), data.clock(), deleting.levers().store_trust(),
                  check_counters_, config.policy_grace),
      item_(item_calls_),
      feed_({.containers = data.storage().containers(),
             .feed = data.storage().feed(),
             .clock = data.clock(),
             .progress = deleting.feed_progress(),
             .sent = sent_}),
      expiry_(ExpiryParts(), ExpiryOptions()),
      hold_(data.storage().containers(), data.storage().holds(), data.clock()),
      maintenance_(MaintenanceParts()) {
  if (!config.reflection) return;
  std::vector<std::string> names = {health_.descriptor().full_name()};
  for (const RpcService* service : all_but_health()) {
    names.push_back(service->descriptor().full_name());
  }
  reflections_ = NewReflectionServices(names);
}

std::vector<RpcService*> GrpcServices::all_but_health() {
  std::vector<RpcService*> all = {&container_, &item_, &feed_, &expiry_, &hold_, &maintenance_};
  for (const auto& reflection : reflections_) all.push_back(reflection.get());
  return all;
}

StatusPage::Calls GrpcServices::page_calls() const {
  return {
      .get = [this](const auto& request, auto& response) { return expiry_.Get(request, response); },
      .list = [this](const auto& request,
                     auto& response) { return expiry_.List(request, response); },
      .stuck = [this](const auto& request,
                      auto& response) { return expiry_.ListStuck(request, response); },
      .explain = [this](const auto& request,
                        auto& response) { return expiry_.Explain(request, response); },
      .forecast = [this](const auto& request,
                         auto& response) { return expiry_.HandleForecast(request, response); },
      .reconciliation = [this](const auto& request,
                               auto& response) { return maintenance_.Get(request, response); },
      .holds = [this](const auto& request,
                      auto& response) { return hold_.List(request, response); }};
}

ExpiryService::Parts GrpcServices::ExpiryParts() {
  return {.storage = data_.storage(),
          .clock = data_.clock(),
          .system_clock = data_.system_clock(),
          .published = deleting_.published(),
          .counters = check_counters_,
          .usage = deleting_.usage(),
          .levers = deleting_.levers(),
          .feeds = feed_view_};
}

ExpiryServiceOptions GrpcServices::ExpiryOptions() {
  return {.container_max_deletes_per_second = config_.container_max_deletes_per_second,
          .start_time = data_.start_time(),
          .start_steady = data_.start_steady(),
          .troubles = [this] { return Troubles(); },
          .on_clock_accepted = [this] { data_.SaveClockSoon(); },
          .on_change = [this] { deleting_.OnChange(); }};
}

std::vector<std::string> GrpcServices::Troubles() const {
  std::vector<std::string> troubles = overdue_.Reasons();
  for (std::vector<std::string> more :
       {overdue_.Gates(), overdue_.HoldsInDoubt(), overdue_.MissingZones()}) {
    std::move(more.begin(), more.end(), std::back_inserter(troubles));
  }
  return troubles;
}

MaintenanceService::Parts GrpcServices::MaintenanceParts() {
  return {.storage = data_.storage(),
          .clock = data_.clock(),
          .levers = deleting_.levers(),
          .reconciliations = deleting_.reconciliations(),
          .has_store = deleting_.has_store(),
          .preview = deleting_.MakePreviewer()};
}

}  // namespace ttl
