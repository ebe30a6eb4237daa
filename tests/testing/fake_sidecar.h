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
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"
#include "service/base/mutex.h"
#include "tests/testing/temp_dir.h"

namespace ttl {

// A stateless sidecar for tests of clients: serves ContainerService, ItemService, ExpiryService,
// HoldService and FeedService of ttl.v1 on a Unix socket of its own, records every request, and
// gives scripted answers. Methods are named as in the protos, without their service; names are
// unique.
//
// An unscripted method returns OK: TrackItems with all items tracked, UntrackItems with all
// untracked, TouchItems with all touched, CheckVisibility with all visible, PlaceHold with the
// hold's name and all keys held, Acknowledge with its sequence, the others with an empty response.
// For StreamCheckVisibility a call is one message; one that fails ends the stream. Each answer of
// WatchEvents is a message of the open stream, or of the next one, and a failure ends it; an
// unscripted stream stays open.
//
// Thread-safe. Serves from construction to destruction.
class FakeSidecar {
 public:
  FakeSidecar();
  // Serves on a given socket, like one that replaces another.
  explicit FakeSidecar(const std::string& socket_path);
  ~FakeSidecar();

  FakeSidecar(const FakeSidecar&) = delete;
  FakeSidecar& operator=(const FakeSidecar&) = delete;

  // The gRPC address of the server.
  const std::string& address() const { return address_; }

  // Script the results of the next calls of a method, one each, in order.
  void Answer(absl::string_view method, const google::protobuf::Message& response);
  // With a retry delay for the client.
  void Fail(absl::string_view method, const grpc::Status& status,
            std::optional<int> pushback_milliseconds = std::nullopt);
  // The call blocks until Release() or the destructor, and is then answered as if unscripted.
  void Hang(absl::string_view method);
  void Release();

  // The number of calls of a method, including retries.
  int Calls(absl::string_view method) const;
  // The number of check streams opened.
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

  // Records the request and returns its scripted result, if any.
  std::optional<Reply> Receive(const std::string& method, const google::protobuf::Message& request);
  // The next scripted result of a method, as soon as there is one; absent: the call is cancelled.
  std::optional<Reply> AwaitReply(const std::string& method, const grpc::ServerContext& context);
  void Record(const std::string& method, const google::protobuf::Message& request);
  std::optional<Reply> NextReply(const std::string& method) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
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
