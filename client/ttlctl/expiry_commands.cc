#include "client/ttlctl/expiry_commands.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/format.h"
#include "client/ttlctl/status_text.h"

namespace ttl {
namespace {

struct NoArguments {};

struct TargetArguments {
  std::string container;
  bool all = false;
  std::string reason;
};

ExitCode StatusOfAll(Session& session) {
  const auto response = session.client().ListExpiryStatuses();
  if (!response.ok()) return session.Fail(response.status());
  session.Print(*response,
                absl::StrCat(SidecarText(response->sidecar(), session.client().address()), "\n",
                             ContainerStatusesText(
                                 {response->containers().begin(), response->containers().end()})));
  return ExitCode::kOk;
}

ExitCode Status(Session& session, const TargetArguments& arguments) {
  if (arguments.container.empty()) return StatusOfAll(session);
  const auto response = session.client().GetExpiryStatus(arguments.container);
  if (!response.ok()) return session.Fail(response.status());
  session.Print(*response,
                absl::StrCat(SidecarText(response->sidecar(), session.client().address()), "\n",
                             ContainerStatusText(response->container())));
  return ExitCode::kOk;
}

// Whether exactly one of a container and --all was given.
bool HasOneTarget(const TargetArguments& arguments) {
  return arguments.container.empty() == arguments.all;
}

ExitCode FailTarget(Session& session) {
  return session.Fail(ExitCode::kUsage, "give either the id of a container or --all");
}

std::string TargetText(const TargetArguments& arguments) {
  return arguments.all ? "all containers" : arguments.container;
}

ExitCode Pause(Session& session, const TargetArguments& arguments) {
  if (!HasOneTarget(arguments)) return FailTarget(session);
  const auto pause = arguments.all
                         ? session.client().PauseAllDeletes(arguments.reason)
                         : session.client().PauseDeletes(arguments.container, arguments.reason);
  if (!pause.ok()) return session.Fail(pause.status());
  session.Print(*pause, absl::StrCat("deletes of ", TargetText(arguments),
                                     " are paused: ", PauseText(*pause), "\n"));
  return ExitCode::kOk;
}

ExitCode Resume(Session& session, const TargetArguments& arguments) {
  if (!HasOneTarget(arguments)) return FailTarget(session);
  const absl::Status status = arguments.all ? session.client().ResumeAllDeletes()
                                            : session.client().ResumeDeletes(arguments.container);
  if (!status.ok()) return session.Fail(status);
  const std::string text =
      arguments.all ? "the pause of all containers is lifted; those paused by themselves stay so\n"
                    : absl::StrCat("the pause of ", arguments.container, " is lifted\n");
  session.Print(v1::ResumeDeletesResponse(), text);
  return ExitCode::kOk;
}

ExitCode ShowClock(Session& session, const NoArguments&) {
  const auto response = session.client().GetExpiryStatus();
  if (!response.ok()) return session.Fail(response.status());
  const v1::ClockStatus& clock = response->sidecar().clock();
  session.Print(clock, FormatFields({{"clock", ClockText(clock)}}));
  return ExitCode::kOk;
}

ExitCode AcceptClock(Session& session, const NoArguments&) {
  const auto clock = session.client().AcceptClock();
  if (!clock.ok()) return session.Fail(clock.status());
  session.Print(*clock, FormatFields({{"clock", ClockText(*clock)}}));
  return ExitCode::kOk;
}

void AddTarget(CLI::App& command, TargetArguments& arguments) {
  AddTextOption(command, "CONTAINER", "Id of the container", arguments.container);
  command.add_flag("--all", arguments.all, "All containers, also those created later");
}

}  // namespace

void AddExpiryCommands(CLI::App& app, Command& chosen) {
  auto status_arguments = std::make_shared<TargetArguments>();
  CLI::App* status = AddCommand(app, "status", "How far deletion has come, and what holds it back",
                                status_arguments, Status, chosen);
  AddTextOption(*status, "CONTAINER", "Id of one container; all if absent",
                status_arguments->container);

  auto pause_arguments = std::make_shared<TargetArguments>();
  CLI::App* pause =
      AddCommand(app, "pause", "Stop deletes until they are resumed; visibility is not affected",
                 pause_arguments, Pause, chosen);
  AddTarget(*pause, *pause_arguments);
  AddTextOption(*pause, "--reason", "Why, for whoever finds the pause", pause_arguments->reason)
      ->required();

  auto resume_arguments = std::make_shared<TargetArguments>();
  AddTarget(*AddCommand(app, "resume", "Lift a pause", resume_arguments, Resume, chosen),
            *resume_arguments);

  CLI::App* clock = app.add_subcommand("clock", "The sidecar's clock");
  clock->require_subcommand(1);
  AddCommand(*clock, "show", "Show whether the clock is trusted, and why not",
             std::make_shared<NoArguments>(), ShowClock, chosen);
  AddCommand(*clock, "accept", "Declare that the wall clock is right",
             std::make_shared<NoArguments>(), AcceptClock, chosen);
}

}  // namespace ttl
