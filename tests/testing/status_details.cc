#include "tests/testing/status_details.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>

#include <cstdlib>
#include <memory>
#include <set>

namespace ttl {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// As googleapis declares them, under a name that nobody else registers.
constexpr char kDeclaration[] = R"pb(
  name: "outside.proto"
  package: "outside"
  syntax: "proto3"
  message_type {
    name: "Any"
    field { name: "type_url" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_BYTES label: LABEL_OPTIONAL }
  }
  message_type {
    name: "Duration"
    field { name: "seconds" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL }
    field { name: "nanos" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL }
  }
  message_type {
    name: "Status"
    field { name: "code" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
    field { name: "message" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
    field {
      name: "details"
      number: 3
      type: TYPE_MESSAGE
      type_name: ".outside.Any"
      label: LABEL_REPEATED
    }
  }
  message_type {
    name: "Entry"
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
  }
  message_type {
    name: "ErrorInfo"
    field { name: "reason" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "domain" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
    field {
      name: "metadata"
      number: 3
      type: TYPE_MESSAGE
      type_name: ".outside.Entry"
      label: LABEL_REPEATED
    }
  }
  message_type {
    name: "FieldViolation"
    field { name: "field" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "description" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
  }
  message_type {
    name: "BadRequest"
    field {
      name: "field_violations"
      number: 1
      type: TYPE_MESSAGE
      type_name: ".outside.FieldViolation"
      label: LABEL_REPEATED
    }
  }
  message_type {
    name: "RetryInfo"
    field {
      name: "retry_delay"
      number: 1
      type: TYPE_MESSAGE
      type_name: ".outside.Duration"
      label: LABEL_OPTIONAL
    }
  }
)pb";

// The messages of the declaration.
class Outside {
 public:
  Outside() {
    google::protobuf::FileDescriptorProto file;
    if (!google::protobuf::TextFormat::ParseFromString(kDeclaration, &file) ||
        pool_.BuildFile(file) == nullptr) {
      std::abort();
    }
  }

  // Null if the bytes are no such message, or have fields that it does not declare.
  std::unique_ptr<Message> Parse(const std::string& name, const std::string& bytes) {
    std::unique_ptr<Message> message(
        factory_.GetPrototype(pool_.FindMessageTypeByName("outside." + name))->New());
    if (!message->ParseFromString(bytes)) return nullptr;
    return message->GetReflection()->GetUnknownFields(*message).empty() ? std::move(message)
                                                                        : nullptr;
  }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
};

const FieldDescriptor* FieldOf(const Message& message, const std::string& name) {
  return message.GetDescriptor()->FindFieldByName(name);
}

std::string Text(const Message& message, const std::string& field) {
  return message.GetReflection()->GetString(message, FieldOf(message, field));
}

std::vector<const Message*> Elements(const Message& message, const std::string& field) {
  std::vector<const Message*> elements;
  const FieldDescriptor* const list = FieldOf(message, field);
  for (int i = 0; i < message.GetReflection()->FieldSize(message, list); ++i) {
    elements.push_back(&message.GetReflection()->GetRepeatedMessage(message, list, i));
  }
  return elements;
}

absl::Duration ToDuration(const Message& duration) {
  const auto* const reflection = duration.GetReflection();
  return absl::Seconds(reflection->GetInt64(duration, FieldOf(duration, "seconds"))) +
         absl::Nanoseconds(reflection->GetInt32(duration, FieldOf(duration, "nanos")));
}

void Take(const std::string& name, const Message& detail, StatusDetails& details) {
  if (name == "ErrorInfo") {
    details.reason = Text(detail, "reason");
    details.domain = Text(detail, "domain");
    for (const Message* entry : Elements(detail, "metadata")) {
      details.metadata[Text(*entry, "key")] = Text(*entry, "value");
    }
  } else if (name == "BadRequest") {
    for (const Message* violation : Elements(detail, "field_violations")) {
      details.violations.emplace_back(Text(*violation, "field"), Text(*violation, "description"));
    }
  } else {
    details.retry_delay =
        ToDuration(detail.GetReflection()->GetMessage(detail, FieldOf(detail, "retry_delay")));
  }
}

}  // namespace

std::optional<StatusDetails> ReadStatusDetails(const std::string& bytes) {
  const std::string prefix = "type.googleapis.com/google.rpc.";
  Outside outside;
  const auto status = outside.Parse("Status", bytes);
  if (status == nullptr) return std::nullopt;
  StatusDetails details;
  details.code = status->GetReflection()->GetInt32(*status, FieldOf(*status, "code"));
  details.message = Text(*status, "message");
  std::set<std::string> expected = {"ErrorInfo", "BadRequest", "RetryInfo"};
  for (const Message* any : Elements(*status, "details")) {
    const std::string url = Text(*any, "type_url");
    if (url.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
    const std::string name = url.substr(prefix.size());
    if (expected.erase(name) == 0) return std::nullopt;
    const auto detail = outside.Parse(name, Text(*any, "value"));
    if (detail == nullptr) return std::nullopt;
    Take(name, *detail, details);
  }
  return details;
}

}  // namespace ttl
