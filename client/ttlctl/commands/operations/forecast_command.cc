#include "client/ttlctl/commands/operations/forecast_command.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "absl/time/time.h"
#include "client/ttlctl/commands/state_command.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/text/forecast_bars.h"
#include "ttl/operator_client.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

struct ForecastArguments {
  std::string container;
  int64_t seconds = 86400;
  std::optional<int64_t> step;
  std::optional<int64_t> default_ttl;
};

ExitCode ShowForecast(Session& session, const ForecastArguments& arguments) {
  // The end is by the sidecar's clock, not by that of this machine.
  const auto status = session.client().operations().GetExpiryStatus();
  if (!status.ok()) return session.Fail(status.status());
  v1::GetForecastRequest request;
  if (arguments.container.empty()) {
    request.set_all_containers(true);
  } else {
    request.set_container(arguments.container);
  }
  *request.mutable_until() =
      ToTimestamp(ToTime(status->sidecar().clock().now()) + absl::Seconds(arguments.seconds));
  if (arguments.step.has_value()) request.mutable_step()->set_seconds(*arguments.step);
  if (arguments.default_ttl.has_value()) request.set_default_ttl(*arguments.default_ttl);
  const auto forecast = session.client().operations().GetForecast(request);
  if (!forecast.ok()) return session.Fail(forecast.status());
  session.Print(*forecast, ForecastBars(*forecast));
  if (forecast->data_in_doubt()) {
    session.terminal().err << "ttlctl: warning: the tracked data is in doubt (see ttlctl status)\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddForecastCommand(CLI::App& app, Command& chosen) {
  auto arguments = std::make_shared<ForecastArguments>();
  CLI::App* command = AddStateCommand(
      app, "forecast", "Show how many items will expire, and when the backlog will be deleted",
      arguments, ShowForecast, chosen);
  AddTextOption(*command, "CONTAINER", "Id of a container; default: all containers",
                arguments->container)
      ->type_name(kContainerType);
  AddDurationOption(*command, "--for", "Length of the forecast; default: a day",
                    [arguments = arguments.get()](int64_t value) { arguments->seconds = value; });
  AddDurationOption(*command, "--step", "Length of a step; default: a 24th of --for",
                    [arguments = arguments.get()](int64_t value) { arguments->step = value; });
  AddDurationOption(
      *command, "--default-ttl",
      "Forecast as if this were the container's default_ttl; -1: items without a ttl never expire",
      [arguments = arguments.get()](int64_t value) { arguments->default_ttl = value; });
}

}  // namespace ttl
