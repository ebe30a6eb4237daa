#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/ttlctl.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "nlohmann/json.hpp"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/container_service.grpc.pb.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

// A server of which only the health service answers.
class HealthTest : public testing::Test {
 protected:
  HealthTest() {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(&containers_);
    server_ = builder.BuildAndStart();
  }

  void Say(const std::string& service, bool serving) {
    server_->GetHealthCheckService()->SetServingStatus(service, serving);
  }

  static Outcome Run(const std::string& address, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--server", address, "health"});
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = RunTtlctl(arguments, {in, out, err});
    return {code, out.str(), err.str()};
  }

  TempDir directory_;
  const std::string address_ = absl::StrCat("unix:", directory_.File("health.sock"));
  v1::ContainerService::Service containers_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(HealthTest, ExitCodeSaysWhetherTheServiceIsServing) {
  const struct {
    const char* service;
    bool serving;
    ExitCode code;
    const char* text;
  } kCases[] = {
      {"readiness", true, ExitCode::kOk, "readiness is serving\n"},
      {"readiness", false, ExitCode::kNotServing, "readiness is not serving\n"},
      {"liveness", true, ExitCode::kOk, "liveness is serving\n"},
      {"", true, ExitCode::kOk, "server is serving\n"},
      {"", false, ExitCode::kNotServing, "server is not serving\n"},
  };
  for (const auto& c : kCases) {
    Say(c.service, c.serving);
    const Outcome outcome = Run(address_, {"--service", c.service});
    EXPECT_EQ(outcome.code, c.code) << c.text;
    EXPECT_EQ(outcome.out, c.text);
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

TEST_F(HealthTest, WithoutAServiceTheServerAsAWholeIsAsked) {
  Say("", false);
  Say("readiness", true);
  EXPECT_EQ(Run(address_, {}).code, ExitCode::kNotServing);
}

TEST_F(HealthTest, JsonIsThatOfTheHealthService) {
  Say("readiness", true);
  EXPECT_EQ(nlohmann::json::parse(Run(address_, {"--service=readiness", "--json"}).out),
            (nlohmann::json{{"status", "SERVING"}}));
}

TEST_F(HealthTest, AServiceThatTheServerDoesNotKnowIsNotFound) {
  EXPECT_EQ(Run(address_, {"--service", "no-such"}).code, ExitCode::kNotFound);
}

TEST_F(HealthTest, AServerThatIsNotThereIsUnreachable) {
  const std::string nowhere = absl::StrCat("unix:", directory_.File("nowhere.sock"));
  const Outcome outcome = Run(nowhere, {});
  EXPECT_EQ(outcome.code, ExitCode::kUnreachable);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(nowhere), HasSubstr("is unavailable")));
}

}  // namespace
}  // namespace ttl
