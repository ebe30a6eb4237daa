#include "service/rpc/services/method_roles.h"

#include "absl/container/flat_hash_map.h"

namespace ttl {
namespace {

using Table = absl::flat_hash_map<absl::string_view, MethodRoles>;

constexpr MethodRoles kEveryone = {.roles = {}, .for_everyone = true};
constexpr MethodRoles kStore = {.roles = {Role::kStore}};
constexpr MethodRoles kReader = {.roles = {Role::kReader, Role::kAdmin}};
constexpr MethodRoles kConsumer = {.roles = {Role::kConsumer, Role::kAdmin}};
constexpr MethodRoles kAnyRole = {.roles = Roles::All()};
constexpr MethodRoles kAdmin = {.roles = {Role::kAdmin}};

// The only list of roles. An admin may call everything that a reader or a consumer may.
const Table& Methods() {
  static const Table& table = *new Table{
      {"Health/Check", kEveryone},
      {"Health/Watch", kEveryone},

      {"ServerReflection/ServerReflectionInfo", kAnyRole},

      {"ItemService/CheckVisibility", kAnyRole},
      {"ItemService/StreamCheckVisibility", kAnyRole},
      {"ItemService/TrackItems", kStore},
      {"ItemService/StreamTrackItems", kStore},
      {"ItemService/UntrackItems", kStore},
      {"ItemService/TouchItems", kStore},
      {"ItemService/GetItem", kReader},
      {"ItemService/ListItems", kReader},

      {"ContainerService/GetContainer", kReader},
      {"ContainerService/ListContainers", kReader},
      {"ContainerService/WatchContainers", kAnyRole},
      {"ContainerService/CreateContainer", kAdmin},
      {"ContainerService/UpdateContainer", kAdmin},
      {"ContainerService/DeleteContainer", kAdmin},

      {"ExpiryService/GetExpiryStatus", kReader},
      {"ExpiryService/ListExpiryStatuses", kReader},
      {"ExpiryService/ExplainItem", kReader},
      {"ExpiryService/GetForecast", kReader},
      {"ExpiryService/ListStuckItems", kReader},
      {"ExpiryService/ReportUsage", kStore},
      {"ExpiryService/PauseDeletes", kAdmin},
      {"ExpiryService/ResumeDeletes", kAdmin},
      {"ExpiryService/AcceptClock", kAdmin},
      {"ExpiryService/ConfirmPolicy", kAdmin},
      {"ExpiryService/ConfirmStore", kAdmin},
      {"ExpiryService/SetMaxDeletesPerSecond", kAdmin},

      {"FeedService/WatchEvents", kReader},
      {"FeedService/CreateSubscription", kAdmin},
      {"FeedService/GetSubscription", kReader},
      {"FeedService/ListSubscriptions", kReader},
      {"FeedService/DeleteSubscription", kAdmin},
      {"FeedService/Acknowledge", kConsumer},

      {"HoldService/PlaceHold", kAdmin},
      {"HoldService/ReleaseHold", kAdmin},
      {"HoldService/ListHolds", kReader},
      {"HoldService/ListHeldKeys", kReader},
      {"HoldService/AcceptHolds", kAdmin},

      {"MaintenanceService/GetReconciliation", kReader},
      {"MaintenanceService/StartReconciliation", kAdmin},
      {"MaintenanceService/CancelReconciliation", kAdmin},
      {"MaintenanceService/TrustData", kAdmin},
      {"MaintenanceService/GetSourcePosition", kStore},
      {"MaintenanceService/SetSourcePosition", kStore},
      {"MaintenanceService/PreviewContainer", kAdmin},
      {"MaintenanceService/VerifyData", kAdmin},
      {"MaintenanceService/BackUpData", kAdmin},
  };
  return table;
}

}  // namespace

MethodRoles RolesOfMethod(absl::string_view method) {
  const auto it = Methods().find(method);
  return it == Methods().end() ? MethodRoles() : it->second;
}

bool IsMethodListed(absl::string_view method) { return Methods().contains(method); }

}  // namespace ttl
