// The rule for times in protos/README.md, over all fields of ttl.v1.

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "ttl/v1/clock.pb.h"
#include "ttl/v1/container_service.pb.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/item_service.pb.h"
#include "ttl/v1/maintenance_service.pb.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

// Times of items, which stores compare and add a ttl to.
bool IsItemTime(const std::string& name) {
  static const std::set<std::string> kNames = {"ts",       "expire_at",  "expire_time",
                                               "due_time", "touch_time", "next_try_time"};
  return kNames.contains(name) || absl::EndsWith(name, "_ts");
}

// By its name. out_of_time counts items.
bool IsTime(const std::string& name) {
  if (name == "out_of_time") return false;
  return IsItemTime(name) || name == "now" || name == "since" || absl::EndsWith(name, "_time") ||
         absl::EndsWith(name, "_at") || absl::EndsWith(name, "_now") ||
         absl::EndsWith(name, "_since");
}

bool IsTimestamp(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_MESSAGE &&
         field.message_type()->full_name() == "google.protobuf.Timestamp";
}

int CheckMessage(const Descriptor& message) {
  int times = 0;
  for (int i = 0; i < message.nested_type_count(); ++i) {
    times += CheckMessage(*message.nested_type(i));
  }
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (!IsTime(field.name())) continue;
    ++times;
    if (IsItemTime(field.name())) {
      EXPECT_EQ(field.type(), FieldDescriptor::TYPE_INT64)
          << field.full_name() << ": a time of an item is int64";
    } else {
      EXPECT_TRUE(IsTimestamp(field))
          << field.full_name() << ": a time that is not an item's is a Timestamp";
    }
  }
  return times;
}

int CheckFile(const FileDescriptor& file) {
  int times = 0;
  for (int i = 0; i < file.message_type_count(); ++i) times += CheckMessage(*file.message_type(i));
  return times;
}

TEST(TimesInProtosTest, EventsAreTimestampsAndItemTimesAreSeconds) {
  std::set<const FileDescriptor*> files;
  for (const Descriptor* message :
       {v1::ClockStatus::descriptor(), v1::Container::descriptor(), v1::Item::descriptor(),
        v1::ListContainersRequest::descriptor(), v1::PauseState::descriptor(),
        v1::ListItemsRequest::descriptor(), v1::TrustDataRequest::descriptor(),
        v1::DeleteItemsRequest::descriptor()}) {
    files.insert(message->file());
  }
  EXPECT_EQ(files.size(), 8u) << "one message of each file";
  int times = 0;
  for (const FileDescriptor* file : files) times += CheckFile(*file);
  EXPECT_GE(times, 25);
}

}  // namespace
}  // namespace ttl
