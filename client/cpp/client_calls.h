#ifndef TTL_CLIENT_CPP_CLIENT_CALLS_H_
#define TTL_CLIENT_CPP_CLIENT_CALLS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/repeat_rule.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"
#include "ttl/client_options.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/feed_service.grpc.pb.h"
#include "ttl/v1/hold_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl {

// The connection of a TtlClient, and how it calls: the deadlines of the options, the retries of
// PauseBeforeRepeat(), and errors that name the sidecar. Thread-safe. In a child of the process
// that created it every call is FAILED_PRECONDITION.
class ClientCalls {
 public:
  explicit ClientCalls(TtlClientOptions options);
  ClientCalls(const ClientCalls&) = delete;
  ClientCalls& operator=(const ClientCalls&) = delete;

  const TtlClientOptions& options() const { return options_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  v1::ItemService::Stub& items() { return *items_; }
  v1::ContainerService::Stub& containers() { return *containers_; }
  v1::ExpiryService::Stub& expiry() { return *expiry_; }
  v1::FeedService::Stub& feed() { return *feed_; }
  v1::HoldService::Stub& holds() { return *holds_; }
  v1::MaintenanceService::Stub& maintenance() { return *maintenance_; }

  // FAILED_PRECONDITION in a child of the process that created this.
  absl::Status CheckProcess() const;

  // Calls `method` of `stub`; `deadline` covers all attempts.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request, absl::Duration deadline, CallKind kind) {
    Response response;
    absl::Status status = Attempt(deadline, kind, [&](grpc::ClientContext* context) {
      response.Clear();
      return (stub.*method)(context, request, &response);
    });
    if (!status.ok()) return status;
    return response;
  }

  // Calls of which nothing depends on the time they take.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Read(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request) {
    return Call(stub, method, request, options_.admin_deadline, CallKind::kRead);
  }
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Change(Stub& stub,
                                  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                               Response*),
                                  const Request& request) {
    return Call(stub, method, request, options_.admin_deadline, CallKind::kChange);
  }

  // Passes each message of the stream that `open` opens to `take`, which returns whether to
  // continue. OK also if `take` ended the stream. No deadline, no retry.
  template <typename Message, typename Open, typename Take>
  absl::Status ReadStream(Open open, Take take) {
    if (absl::Status status = CheckProcess(); !status.ok()) return status;
    grpc::ClientContext context;
    const auto reader = open(&context);
    Message message;
    bool ended = false;
    while (!ended && reader->Read(&message)) ended = !take(message);
    if (ended) context.TryCancel();
    const grpc::Status status = reader->Finish();
    return ended ? absl::OkStatus() : StreamError(status);
  }

 private:
  using AttemptOnce = absl::FunctionRef<grpc::Status(grpc::ClientContext*)>;

  absl::Status Attempt(absl::Duration deadline, CallKind kind, AttemptOnce once) const;
  absl::Status StreamError(const grpc::Status& status) const;

  // The error of a call whose deadline has passed, with the reason, which gRPC does not give.
  absl::Status TimeoutError(absl::Duration deadline) const;

  const TtlClientOptions options_;
  const int process_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::ItemService::Stub> items_;
  const std::unique_ptr<v1::ContainerService::Stub> containers_;
  const std::unique_ptr<v1::ExpiryService::Stub> expiry_;
  const std::unique_ptr<v1::FeedService::Stub> feed_;
  const std::unique_ptr<v1::HoldService::Stub> holds_;
  const std::unique_ptr<v1::MaintenanceService::Stub> maintenance_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CLIENT_CALLS_H_
