#ifndef TTL_SERVICE_TRANSPORT_CALLS_METHOD_TABLE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_METHOD_TABLE_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/transport/calls/byte_service.h"
#include "service/transport/calls/call_queue.h"
#include "service/transport/calls/call_step.h"
#include "service/transport/calls/call_worker.h"
#include "service/transport/calls/exchange.h"
#include "service/transport/calls/message_exchange.h"
#include "service/transport/calls/queued_method.h"
#include "service/transport/calls/rpc_service.h"
#include "service/transport/calls/source_stream.h"

namespace ttl {

// The methods of one service on one queue. Each is added by its name in the .proto file, with its
// handler:
//   table.Add("GetX", *this, &XService::Get);
// A handler is a member function of (const Request&, Response&) that returns the status of the
// call, or of (const Request&, Response&, DoneStatus) that calls back exactly once, on any thread,
// and may have the author of the call (ServerAccess::AuthorOf) as a first argument.
// The response is empty before. An unknown name or wrong message types end the process, since every
// call would fail. Must be destroyed after the queue.
class MethodTable final : private CallStep {
 public:
  // Number of calls accepted in advance, for rare and for frequent methods.
  static constexpr int kFewWaitingCalls = 1;
  static constexpr int kManyWaitingCalls = 16;

  // Adds all methods of `service` to `queue`, whose thread must not run yet. `endpoint` is the
  // service as registered with the queue's server. All arguments must outlive the queue.
  MethodTable(RpcService& service, ByteService& endpoint, CallQueue& queue, CallWorker& worker);
  ~MethodTable() = default;
  MethodTable(const MethodTable&) = delete;
  MethodTable& operator=(const MethodTable&) = delete;

  // Adds a unary method whose calls may take long. They are handled by the worker.
  template <typename Owner, typename Handler>
  void Add(const std::string& name, Owner& owner, Handler handler) {
    AddHandledByWorker(name, BindMessages(owner, handler));
  }
  template <typename Owner, typename Base, typename Request, typename Response>
  void Add(const std::string& name, Owner& owner,
           void (Base::*handler)(const std::string& author, const Request&, Response&,
                                 DoneStatus)) {
    const ServerAccess& access = queue_.access();
    AddHandledByWorker(
        name, {Request::default_instance(), Response::default_instance(),
               [&owner, handler, &access](const grpc::ServerContextBase& call,
                                          const google::protobuf::Message& request,
                                          google::protobuf::Message& response, DoneStatus done) {
                 (owner.*handler)(access.AuthorOf(call), static_cast<const Request&>(request),
                                  static_cast<Response&>(response), std::move(done));
               }});
  }

  // Adds a unary method whose handler runs on the queue's thread and must be quick.
  template <typename Owner, typename Handler>
  void AddQuick(const std::string& name, Owner& owner, Handler handler,
                int waiting_calls = kFewWaitingCalls) {
    AddHandled(name, waiting_calls, BindMessages(owner, handler));
  }

  // Adds a bidirectional stream in which each message gets one response.
  template <typename Owner, typename Handler>
  void AddStream(const std::string& name, Owner& owner, Handler handler) {
    AddHandledStream(name, BindMessages(owner, handler));
  }

  // Adds a server stream whose messages are made on `thread`. `open` is a function of (const
  // Request&) that returns absl::StatusOr<MessageSource<Response>>. The stream is ended if the
  // client reads nothing for `stall_limit`.
  template <typename Request, typename Response, typename Open>
  void AddSource(const std::string& name, CallWorker& thread, absl::Duration stall_limit,
                 Open open) {
    CheckTypes(name, Request::default_instance(), Response::default_instance());
    AddByteSource(name, thread, stall_limit,
                  [open](grpc::ByteBuffer& bytes) -> absl::StatusOr<ByteSource> {
                    Request request;
                    if (!ParseMessage(bytes, request)) return UnparsableRequest();
                    absl::StatusOr<MessageSource<Response>> source = open(request);
                    if (!source.ok()) return source.status();
                    return MakeByteSource(*std::move(source));
                  });
  }

  // Add methods whose messages are handled as bytes.
  void AddByteUnary(const std::string& name, NewExchange new_exchange, int waiting_calls);
  void AddByteStream(const std::string& name, NewExchange new_exchange);

  // Adds a method that its owner serves itself.
  void Add(const std::string& name, std::unique_ptr<QueuedMethod> method);

  // The method of that name. Ends the process if there is none.
  const google::protobuf::MethodDescriptor& Find(const std::string& name) const;

  CallQueue& queue() { return queue_; }
  ByteService& endpoint() { return endpoint_; }

  // Before the server stops: ends open streams with UNAVAILABLE, once the messages read are
  // answered, and refuses later ones. May be called on any thread, once.
  void EndStreams() { queue_.Post(*this); }

 private:
  // A handler with the types of its messages erased.
  struct MessageHandler {
    const google::protobuf::Message& request;
    const google::protobuf::Message& response;
    MessageExchange::Handler handle;
  };

  template <typename Owner, typename Base, typename Request, typename Response>
  static MessageHandler BindMessages(Owner& owner,
                                     absl::Status (Base::*handler)(const Request&, Response&)) {
    return Bind<Request, Response>(
        [&owner, handler](const Request& request, Response& response, DoneStatus done) {
          done((owner.*handler)(request, response));
        });
  }
  template <typename Owner, typename Base, typename Request, typename Response>
  static MessageHandler BindMessages(Owner& owner, absl::Status (Base::*handler)(const Request&,
                                                                                 Response&) const) {
    return Bind<Request, Response>(
        [&owner, handler](const Request& request, Response& response, DoneStatus done) {
          done((owner.*handler)(request, response));
        });
  }
  template <typename Owner, typename Base, typename Request, typename Response>
  static MessageHandler BindMessages(Owner& owner,
                                     void (Base::*handler)(const Request&, Response&, DoneStatus)) {
    return Bind<Request, Response>(
        [&owner, handler](const Request& request, Response& response, DoneStatus done) {
          (owner.*handler)(request, response, std::move(done));
        });
  }

  template <typename Request, typename Response, typename Handle>
  static MessageHandler Bind(Handle handle) {
    return {
        Request::default_instance(), Response::default_instance(),
        [handle](const grpc::ServerContextBase& /*call*/, const google::protobuf::Message& request,
                 google::protobuf::Message& response, DoneStatus done) {
          handle(static_cast<const Request&>(request), static_cast<Response&>(response),
                 std::move(done));
        }};
  }

  template <typename Response>
  static ByteSource MakeByteSource(MessageSource<Response> source) {
    return [source =
                std::move(source)](grpc::ByteBuffer& bytes) mutable -> absl::StatusOr<SourceStep> {
      Response message;
      const absl::StatusOr<SourceStep> step = source(message);
      if (step.ok() && *step == SourceStep::kMessage) bytes = SerializeMessage(message);
      return step;
    };
  }

  void AddHandled(const std::string& name, int waiting_calls, MessageHandler handler);
  void AddHandledByWorker(const std::string& name, MessageHandler handler);
  void AddHandledStream(const std::string& name, MessageHandler handler);
  void AddByteSource(const std::string& name, CallWorker& thread, absl::Duration stall_limit,
                     SourceMethod::Open open);
  NewExchange NewMessageExchange(const std::string& name, MessageHandler handler) const;

  // End the process if the check fails.
  void CheckTypes(const std::string& name, const google::protobuf::Message& request,
                  const google::protobuf::Message& response) const;
  void CheckComplete() const;

  // The part of EndStreams() that runs on the queue's thread.
  void Proceed(bool ok) override;

  ByteService& endpoint_;
  CallQueue& queue_;
  CallWorker& worker_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<QueuedMethod>> methods_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_METHOD_TABLE_H_
