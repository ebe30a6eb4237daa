#ifndef TTL_TESTS_TESTING_FAKE_SIDECAR_H_
#define TTL_TESTS_TESTING_FAKE_SIDECAR_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "grpcpp/server.h"
#include "grpcpp/support/status.h"
#include "service/core/mutex.h"
#include "tests/testing/temp_dir.h"

namespace ttl {

// A sidecar without a memory, for tests of clients: serves ContainerService,
// ItemService and ExpiryService of ttl.v1 on a Unix socket of its own, keeps
// every request, and answers what it was told to. Methods are named as in the
// protos, without their service: no two share a name.
//
// A method that was told nothing answers OK: TrackItems that all are tracked,
// UntrackItems that all are untracked, CheckVisibility that all are visible,
// the others an empty response.
//
// Thread-safe. Serves from construction to destruction.
class FakeSidecar {
 public:
  FakeSidecar();
  ~FakeSidecar();

  FakeSidecar(const FakeSidecar&) = delete;
  FakeSidecar& operator=(const FakeSidecar&) = delete;

  // gRPC address to reach it at.
  const std::string& address() const { return address_; }

  // What the next calls of a method get, one each, in the order told.
  void Answer(absl::string_view method, const google::protobuf::Message& response);
  // With a push-back: the client is asked to wait for so long before it repeats.
  void Fail(absl::string_view method, const grpc::Status& status,
            std::optional<int> pushback_milliseconds = std::nullopt);
  // The call is held until the fake is destroyed.
  void Hang(absl::string_view method);

  // How often a method was called, repeats included.
  int Calls(absl::string_view method) const;

  // All requests of a method so far, oldest first.
  template <typename Request>
  std::vector<Request> Requests(absl::string_view method) const {
    std::vector<Request> requests;
    for (const auto& message : RawRequests(method)) {
      requests.push_back(dynamic_cast<const Request&>(*message));
    }
    return requests;
  }

 private:
  class Services;

  struct Reply {
    grpc::Status status;
    std::shared_ptr<const google::protobuf::Message> response;
    std::optional<int> pushback_milliseconds;
    bool hang = false;
  };

  std::vector<std::shared_ptr<const google::protobuf::Message>> RawRequests(
      absl::string_view method) const;
  void Tell(absl::string_view method, Reply reply);

  // Keeps the request and returns what was told for it, if anything.
  std::optional<Reply> Receive(const std::string& method, const google::protobuf::Message& request);
  void WaitForDestruction();

  const TempDir directory_;
  const std::string address_;

  mutable Mutex mutex_;
  CondVar destroyed_;
  bool destroying_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::deque<Reply>> replies_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<std::shared_ptr<const google::protobuf::Message>>> requests_
      ABSL_GUARDED_BY(mutex_);

  std::unique_ptr<Services> services_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAKE_SIDECAR_H_
