// The progress of verify and backup, with a sidecar whose data is as large as the test says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/ttlctl.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class Maintenance final : public v1::MaintenanceService::Service {
 public:
  grpc::Status VerifyData(grpc::ServerContext*, const v1::VerifyDataRequest*,
                          grpc::ServerWriter<v1::VerifyDataResponse>* writer) override {
    v1::VerifyDataResponse message;
    for (const int64_t records : {500, 1000, 2500}) {
      message.set_records(records);
      message.set_finished(records == 2500);
      writer->Write(message);
    }
    return grpc::Status::OK;
  }

  grpc::Status BackUpData(grpc::ServerContext*, const v1::BackUpDataRequest*,
                          grpc::ServerWriter<v1::BackUpDataResponse>* writer) override {
    v1::BackUpDataResponse message;
    message.set_records(1000);
    message.set_data("bytes");
    writer->Write(message);
    return grpc::Status::OK;
  }
};

class Expiry final : public v1::ExpiryService::Service {
 public:
  grpc::Status ListExpiryStatuses(grpc::ServerContext*, const v1::ListExpiryStatusesRequest*,
                                  v1::ListExpiryStatusesResponse* response) override {
    ++calls;
    if (!answers) return {grpc::StatusCode::PERMISSION_DENIED, "no"};
    v1::ContainerExpiryStatus& status = *response->add_containers();
    status.mutable_items()->set_tracked_items(1000);
    status.mutable_index_progress()->set_state(v1::INDEX_STATE_READY);
    return grpc::Status::OK;
  }

  int calls = 0;
  bool answers = true;
};

class RecordProgressTest : public testing::Test {
 protected:
  RecordProgressTest() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(&maintenance_);
    builder.RegisterService(&expiry_);
    server_ = builder.BuildAndStart();
  }

  // Runs ttlctl and returns its error stream.
  std::string Errors(const std::vector<std::string>& command, bool err_is_terminal) {
    std::vector<std::string> arguments = {"--server", address_};
    arguments.insert(arguments.end(), command.begin(), command.end());
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(RunTtlctl(arguments, {in, out, err, err_is_terminal}), ExitCode::kOk) << err.str();
    return err.str();
  }

  TempDir directory_;
  const std::string address_ = absl::StrCat("unix:", directory_.File("fake.sock"));
  Maintenance maintenance_;
  Expiry expiry_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(RecordProgressTest, VerifySaysHowMuchOfTheWholeIsRead) {
  EXPECT_THAT(Errors({"verify"}, /*err_is_terminal=*/true),
              AllOf(HasSubstr("500 records read, 0 problems, 25 % of about 2,000"),
                    HasSubstr("1,000 records read, 0 problems, 50 % of about 2,000"),
                    EndsWith("2,500 records read, 0 problems\r\033[K")))
      << "a total that was too low is not shown any more";
}

TEST_F(RecordProgressTest, BackupToo) {
  EXPECT_THAT(Errors({"backup", directory_.File("backup")}, /*err_is_terminal=*/true),
              HasSubstr("1,000 records, 0 MiB, 50 % of about 2,000"));
}

TEST_F(RecordProgressTest, WithoutATotalTheCountIsShownAlone) {
  expiry_.answers = false;
  EXPECT_THAT(Errors({"verify"}, /*err_is_terminal=*/true),
              AllOf(HasSubstr("500 records read, 0 problems\r"), Not(HasSubstr("%"))));
}

TEST_F(RecordProgressTest, NothingIsDrawnOrAskedWhereThereIsNoTerminal) {
  EXPECT_EQ(Errors({"verify"}, /*err_is_terminal=*/false), "");
  EXPECT_EQ(expiry_.calls, 0);
}

}  // namespace
}  // namespace ttl
