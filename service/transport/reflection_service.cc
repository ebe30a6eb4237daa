#include "service/transport/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "service/base/quoted.h"
#include "service/transport/calls/method_table.h"

namespace ttl {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;

constexpr size_t kMaxNameBytes = 256;

const DescriptorPool& Pool() { return *DescriptorPool::generated_pool(); }

// Adds a file after its imports, unless it was added before.
template <typename Files>
void AddFile(const FileDescriptor& file, std::set<const FileDescriptor*>& added, Files& files) {
  if (!added.insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), added, files);
  FileDescriptorProto proto;
  file.CopyTo(&proto);
  files.add_file_descriptor_proto(proto.SerializeAsString());
}

template <typename Response>
void AnswerNothing(const std::string& what, Response& response) {
  auto& error = *response.mutable_error_response();
  error.set_error_code(static_cast<int>(absl::StatusCode::kNotFound));
  error.set_error_message(absl::StrCat(what, " does not exist"));
}

template <typename Response>
void AnswerFile(const FileDescriptor* file, const std::string& what, Response& response) {
  if (file == nullptr) return AnswerNothing(what, response);
  std::set<const FileDescriptor*> added;
  AddFile(*file, added, *response.mutable_file_descriptor_response());
}

template <typename Request, typename Response>
void AnswerExtension(const Request& request, Response& response) {
  const auto& asked = request.file_containing_extension();
  const Descriptor* const type = Pool().FindMessageTypeByName(asked.containing_type());
  const FieldDescriptor* const extension =
      type == nullptr ? nullptr : Pool().FindExtensionByNumber(type, asked.extension_number());
  AnswerFile(extension == nullptr ? nullptr : extension->file(),
             absl::StrCat("extension ", asked.extension_number(), " of ",
                          Quoted(asked.containing_type(), kMaxNameBytes)),
             response);
}

template <typename Response>
void AnswerExtensionNumbers(const std::string& name, Response& response) {
  const Descriptor* const type = Pool().FindMessageTypeByName(name);
  if (type == nullptr) {
    return AnswerNothing(absl::StrCat("message ", Quoted(name, kMaxNameBytes)), response);
  }
  auto& numbers = *response.mutable_all_extension_numbers_response();
  numbers.set_base_type_name(name);
  std::vector<const FieldDescriptor*> extensions;
  Pool().FindAllExtensions(type, &extensions);
  for (const FieldDescriptor* extension : extensions) {
    numbers.add_extension_number(extension->number());
  }
}

template <typename Request, typename Response>
void Answer(const Request& request, const std::vector<std::string>& services, Response& response) {
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Request::kFileByFilename:
      return AnswerFile(Pool().FindFileByName(request.file_by_filename()),
                        absl::StrCat("file ", Quoted(request.file_by_filename(), kMaxNameBytes)),
                        response);
    case Request::kFileContainingSymbol:
      return AnswerFile(
          Pool().FindFileContainingSymbol(request.file_containing_symbol()),
          absl::StrCat("symbol ", Quoted(request.file_containing_symbol(), kMaxNameBytes)),
          response);
    case Request::kFileContainingExtension:
      return AnswerExtension(request, response);
    case Request::kAllExtensionNumbersOfType:
      return AnswerExtensionNumbers(request.all_extension_numbers_of_type(), response);
    case Request::kListServices:
      for (const std::string& name : services) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      return;
    case Request::MESSAGE_REQUEST_NOT_SET:
      return AnswerNothing("question in the request", response);
  }
}

// One version of the service.
template <typename Request, typename Response>
class Reflection final : public RpcService {
 public:
  explicit Reflection(std::vector<std::string> services) : services_(std::move(services)) {}

  static const google::protobuf::ServiceDescriptor& Descriptor() {
    return *Request::descriptor()->file()->service(0);
  }

  const google::protobuf::ServiceDescriptor& descriptor() const override { return Descriptor(); }
  void AddMethods(MethodTable& table) override {
    table.AddStream("ServerReflectionInfo", *this, &Reflection::Handle);
  }

 private:
  absl::Status Handle(const Request& request, Response& response) const {
    Answer(request, services_, response);
    return absl::OkStatus();
  }

  const std::vector<std::string> services_;
};

}  // namespace

std::vector<std::unique_ptr<RpcService>> NewReflectionServices(std::vector<std::string> services) {
  namespace v1 = grpc::reflection::v1;
  namespace v1alpha = grpc::reflection::v1alpha;
  using V1 = Reflection<v1::ServerReflectionRequest, v1::ServerReflectionResponse>;
  using V1Alpha = Reflection<v1alpha::ServerReflectionRequest, v1alpha::ServerReflectionResponse>;
  services.push_back(V1::Descriptor().full_name());
  services.push_back(V1Alpha::Descriptor().full_name());
  std::vector<std::unique_ptr<RpcService>> reflections;
  reflections.push_back(std::make_unique<V1>(services));
  reflections.push_back(std::make_unique<V1Alpha>(services));
  return reflections;
}

}  // namespace ttl
