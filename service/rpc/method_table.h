#ifndef TTL_SERVICE_RPC_METHOD_TABLE_H_
#define TTL_SERVICE_RPC_METHOD_TABLE_H_

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "service/rpc/async_unary_method.h"
#include "service/rpc/call_worker.h"
#include "service/rpc/queued_method.h"
#include "service/storage/done.h"

namespace ttl {

// The method of a request, as in "ItemService/GetItem": each proto file of ours has one
// service, and each method a request of its own.
template <typename Request>
std::string MethodName() {
  const auto* descriptor = Request::descriptor();
  return absl::StrCat(descriptor->file()->service(0)->name(), "/",
                      absl::StripSuffix(descriptor->name(), "Request"));
}

// Puts the unary methods of a service on a queue, one Add...() for each. For calls
// that are not made too often: few are accepted in advance.
//   MethodTable table(endpoint, *this, worker, methods);
//   table.Add(&Endpoint::RequestGetX, &Service::GetX);
// A handler is a method of (const Request&, Response&) that returns the call's status,
// or of (const Request&, Response&, DoneStatus) that calls back once, on any thread.
template <typename Service, typename Handlers>
class MethodTable {
 public:
  // All must outlive the queue of `methods`.
  MethodTable(Service& service, Handlers& handlers, CallWorker& worker, QueuedMethods& methods)
      : service_(service), handlers_(handlers), worker_(worker), methods_(methods) {}

  // Handled by the worker.
  template <typename Base, typename Request, typename Response, typename Handler>
  void Add(RequestCall<Base, Request, Response> request_call, Handler handler) {
    auto handle = Bind<Request, Response>(handler);
    AddMethod<Request, Response>(
        request_call,
        [&worker = worker_, handle](const Request& request, Response& response, DoneStatus done) {
          // Shared because it is called here if the worker refuses.
          auto shared = std::make_shared<DoneStatus>(std::move(done));
          absl::Status taken = worker.Run([&request, &response, handle, shared] {
            handle(request, response, std::move(*shared));
          });
          if (!taken.ok()) (*shared)(std::move(taken));
        });
  }

  // Handled on the queue's thread: must be quick.
  template <typename Base, typename Request, typename Response, typename Handler>
  void AddQuick(RequestCall<Base, Request, Response> request_call, Handler handler) {
    AddMethod<Request, Response>(request_call, Bind<Request, Response>(handler));
  }

 private:
  static constexpr int kWaitingCalls = 1;

  template <typename Request, typename Response, typename Handler>
  auto Bind(Handler handler) {
    return [&handlers = handlers_, handler](const Request& request, Response& response,
                                            DoneStatus done) {
      if constexpr (std::is_invocable_v<Handler, Handlers&, const Request&, Response&,
                                        DoneStatus>) {
        (handlers.*handler)(request, response, std::move(done));
      } else {
        done((handlers.*handler)(request, response));
      }
    };
  }

  template <typename Request, typename Response, typename Method, typename Handle>
  void AddMethod(Method request_call, Handle handle) {
    using Functions = typename AsyncUnaryMethod<Request, Response>::Functions;
    methods_.Add(std::make_unique<AsyncUnaryMethod<Request, Response>>(
        methods_.queue(), MethodName<Request>(), kWaitingCalls,
        Functions{CallRequester(service_, request_call), std::move(handle),
                  [](const Request& request) { return request.ByteSizeLong(); }}));
  }

  Service& service_;
  Handlers& handlers_;
  CallWorker& worker_;
  QueuedMethods& methods_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_METHOD_TABLE_H_
