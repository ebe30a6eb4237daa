#include "service/transport/calls/method_table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "service/transport/calls/async_stream_method.h"
#include "service/transport/calls/async_unary_method.h"
#include "service/transport/calls/status_mapping.h"

namespace ttl {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

[[noreturn]] void Die(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

}  // namespace

MethodTable::MethodTable(RpcService& service, ByteService& endpoint, CallQueue& queue,
                         CallWorker& worker)
    : endpoint_(endpoint), queue_(queue), worker_(worker) {
  service.AddMethods(*this);
  CheckComplete();
}

void MethodTable::AddHandled(const std::string& name, int waiting_calls, MessageHandler handler) {
  AddByteUnary(name, NewMessageExchange(name, std::move(handler)), waiting_calls);
}

void MethodTable::AddHandledByWorker(const std::string& name, MessageHandler handler) {
  handler.handle = [&worker = worker_, handle = std::move(handler.handle)](
                       const grpc::ServerContextBase& call, const Message& request,
                       Message& response, DoneStatus done) {
    // Shared, because it is called here if the worker refuses the task.
    auto shared = std::make_shared<DoneStatus>(std::move(done));
    absl::Status taken = worker.Run([&call, &request, &response, &handle, shared] {
      handle(call, request, response, std::move(*shared));
    });
    if (!taken.ok()) (*shared)(std::move(taken));
  };
  AddHandled(name, kFewWaitingCalls, std::move(handler));
}

void MethodTable::AddHandledStream(const std::string& name, MessageHandler handler) {
  AddByteStream(name, NewMessageExchange(name, std::move(handler)));
}

void MethodTable::AddByteUnary(const std::string& name, NewExchange new_exchange,
                               int waiting_calls) {
  Add(name, std::make_unique<AsyncUnaryMethod>(queue_, endpoint_, Find(name), waiting_calls,
                                               std::move(new_exchange)));
}

void MethodTable::AddByteStream(const std::string& name, NewExchange new_exchange) {
  Add(name,
      std::make_unique<AsyncStreamMethod>(queue_, endpoint_, Find(name), std::move(new_exchange)));
}

void MethodTable::AddByteSource(const std::string& name, CallWorker& thread,
                                absl::Duration stall_limit, SourceMethod::Open open) {
  Add(name, std::make_unique<SourceMethod>(queue_, endpoint_, Find(name), thread, stall_limit,
                                           std::move(open)));
}

void MethodTable::Add(const std::string& name, std::unique_ptr<QueuedMethod> method) {
  names_.push_back(name);
  methods_.push_back(std::move(method));
}

NewExchange MethodTable::NewMessageExchange(const std::string& name, MessageHandler handler) const {
  CheckTypes(name, handler.request, handler.response);
  return [handler = std::move(handler)] {
    return std::make_unique<MessageExchange>(handler.request, handler.response, handler.handle);
  };
}

const MethodDescriptor& MethodTable::Find(const std::string& name) const {
  const MethodDescriptor* const method = endpoint_.descriptor().FindMethodByName(name);
  if (method == nullptr) {
    Die(absl::StrCat(endpoint_.descriptor().full_name(), " has no method ", name));
  }
  return *method;
}

void MethodTable::CheckTypes(const std::string& name, const Message& request,
                             const Message& response) const {
  const MethodDescriptor& method = Find(name);
  if (method.input_type() != request.GetDescriptor() ||
      method.output_type() != response.GetDescriptor()) {
    Die(absl::StrCat("the handler of ", method.full_name(), " is one of ", request.GetTypeName(),
                     " and ", response.GetTypeName()));
  }
}

// A method without a handler would never answer.
void MethodTable::CheckComplete() const {
  const auto& service = endpoint_.descriptor();
  for (int i = 0; i < service.method_count(); ++i) {
    if (std::count(names_.begin(), names_.end(), service.method(i)->name()) != 1) {
      Die(absl::StrCat(service.method(i)->full_name(), " must have one handler"));
    }
  }
}

void MethodTable::Proceed(bool /*ok*/) {
  for (const auto& method : methods_) {
    method->EndStreams(ShuttingDown());
  }
}

}  // namespace ttl
