#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_KNOWN_CONTAINERS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_KNOWN_CONTAINERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/container_watcher.h"
#include "grpcpp/channel.h"
#include "service/base/mutex.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl::postgres {

// The containers of the sidecar and their creation times: a recreated container has lost everything
// that was reported before. Thread-safe.
class KnownContainers {
 public:
  // Another thread calls `on_change` whenever a result may have changed.
  KnownContainers(const std::shared_ptr<grpc::Channel>& channel, std::string address,
                  std::function<void()> on_change);

  // The container's creation time, as text. NOT_FOUND if it does not exist, UNAVAILABLE while the
  // sidecar does not answer.
  absl::StatusOr<std::string> CreateTime(const std::string& container) const;

  // Increases whenever a result may have changed.
  uint64_t version() const;

 private:
  void Take(const v1::WatchContainersResponse& message);
  void End(const grpc::Status& status);

  const std::string address_;
  const std::function<void()> on_change_;

  mutable Mutex mutex_;
  absl::Status problem_ ABSL_GUARDED_BY(mutex_);
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::string> create_times_ ABSL_GUARDED_BY(mutex_);  // by container
  // The parts received of a snapshot.
  std::map<std::string, std::string> arriving_ ABSL_GUARDED_BY(mutex_);

  ContainerWatcher watcher_;  // declared last: its thread uses all other members
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_KNOWN_CONTAINERS_H_
