#include "client/ttlctl/commands/operations/health_command.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.pb.h"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

struct HealthArguments {
  std::string service;
};

ExitCode Health(Session& session, const HealthArguments& arguments) {
  using grpc::health::v1::HealthCheckResponse;
  const auto serving = session.client().operations().IsServing(arguments.service);
  if (!serving.ok()) return session.Fail(serving.status());
  HealthCheckResponse response;
  response.set_status(*serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING);
  const std::string name = arguments.service.empty() ? "server" : arguments.service;
  session.Print(response, absl::StrCat(name, *serving ? " is serving\n" : " is not serving\n"));
  return *serving ? ExitCode::kOk : ExitCode::kNotServing;
}

}  // namespace

void AddHealthCommand(CLI::App& app, Command& chosen) {
  auto arguments = std::make_shared<HealthArguments>();
  CLI::App* command = AddCommand(app, "health", "Check whether the server is serving; for probes",
                                 arguments, Health, chosen);
  AddTextOption(*command, "--service",
                "startup, readiness or liveness; without it: the server as a whole, which is as "
                "readiness",
                arguments->service)
      ->type_name("startup|readiness|liveness");
}

}  // namespace ttl
