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
#include "service/base/mutex.h"
#include "tests/testing/temp_dir.h"

namespace ttl {

// A sidecar without a memory, for tests of clients: serves ContainerService,
// ItemService and ExpiryService of ttl.v1 on a Unix socket of its own, keeps
// every request, and answers what it was told to. Methods are named as in the
// protos, without their service: no two share a name.
//
// A method that was told nothing answers OK: TrackItems that all are tracked,
// UntrackItems that all are untracked, CheckVisibility that all are visible,
// the others an empty response. For StreamCheckVisibility a call is one message;
// one that fails ends the stream.
//
// Thread-safe. Serves from construction to destruction.
class FakeSidecar {
 public:
  FakeSidecar();
  // On a socket of the test's, as one that comes back after another is gone.
  explicit FakeSidecar(const std::string& socket_path);
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
  // The call is held until Release() or until the fake is destroyed, and then answered
  // as if nothing had been told.
  void Hang(absl::string_view method);
  void Release();

  // How often a method was called, repeats included.
  int Calls(absl::string_view method) const;
  // How many streams of checks were opened.
  int CheckStreams() const;

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
    int releases = 0;  // before it was taken
  };

  std::vector<std::shared_ptr<const google::protobuf::Message>> RawRequests(
      absl::string_view method) const;
  void Tell(absl::string_view method, Reply reply);

  // Keeps the request and returns what was told for it, if anything.
  std::optional<Reply> Receive(const std::string& method, const google::protobuf::Message& request);
  void CountCheckStream();
  void WaitForRelease(const Reply& reply);

  const TempDir directory_;
  const std::string address_;

  mutable Mutex mutex_;
  CondVar released_;
  int releases_ ABSL_GUARDED_BY(mutex_) = 0;
  bool destroying_ ABSL_GUARDED_BY(mutex_) = false;
  int check_streams_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::deque<Reply>> replies_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<std::shared_ptr<const google::protobuf::Message>>> requests_
      ABSL_GUARDED_BY(mutex_);

  std::unique_ptr<Services> services_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAKE_SIDECAR_H_
