#include "client/ttlctl/commands/operations/expiry_commands.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/key_help.h"
#include "client/ttlctl/commands/state_command.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/text/container_status_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/status_text.h"
#include "client/ttlctl/text/table.h"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

struct TargetArguments {
  std::string container;
  bool all = false;
  std::string reason;
};

constexpr int64_t kMaxStuckPageSize = 1000;

struct StuckArguments {
  std::string container;
  int64_t limit = 100;
};

ExitCode StatusOfAll(Session& session) {
  const auto response = session.client().operations().ListExpiryStatuses();
  if (!response.ok()) return session.Fail(response.status());
  session.Print(*response,
                absl::StrCat(SidecarText(response->sidecar(), session.client().address()), "\n",
                             ContainerStatusesText(
                                 {response->containers().begin(), response->containers().end()})));
  return ExitCode::kOk;
}

ExitCode Status(Session& session, const TargetArguments& arguments) {
  if (arguments.container.empty()) return StatusOfAll(session);
  const auto response = session.client().operations().GetExpiryStatus(arguments.container);
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

ExitCode PauseExpiry(Session& session, const TargetArguments& arguments) {
  if (!HasOneTarget(arguments)) return FailTarget(session);
  const auto pause = arguments.all ? session.client().operations().PauseAllDeletes(arguments.reason)
                                   : session.client().operations().PauseDeletes(arguments.container,
                                                                                arguments.reason);
  if (!pause.ok()) return session.Fail(pause.status());
  session.Print(*pause, absl::StrCat("deletes of ", TargetText(arguments),
                                     " are paused: ", PauseText(*pause), "\n"));
  return ExitCode::kOk;
}

// Says whether there was a pause.
std::string ResumeText(const TargetArguments& arguments, const v1::GetExpiryStatusResponse& found) {
  const bool was_paused =
      arguments.all ? found.sidecar().has_pause() : found.container().has_pause();
  const v1::PauseState& pause = arguments.all ? found.sidecar().pause() : found.container().pause();
  std::string text = absl::StrCat("deletes of ", TargetText(arguments),
                                  was_paused ? " are resumed after the pause " : " were not paused",
                                  was_paused ? PauseText(pause) : "");
  if (arguments.all) {
    absl::StrAppend(&text, "; containers with a pause of their own stay paused");
  } else if (found.sidecar().has_pause()) {
    absl::StrAppend(&text, "; all containers are paused: ", PauseText(found.sidecar().pause()));
  }
  return text + "\n";
}

ExitCode ResumeExpiry(Session& session, const TargetArguments& arguments) {
  if (!HasOneTarget(arguments)) return FailTarget(session);
  const auto found = session.client().operations().GetExpiryStatus(arguments.container);
  if (!found.ok()) return session.Fail(found.status());
  const absl::Status status =
      arguments.all ? session.client().operations().ResumeAllDeletes()
                    : session.client().operations().ResumeDeletes(arguments.container);
  if (!status.ok()) return session.Fail(status);
  session.Print(v1::ResumeDeletesResponse(), ResumeText(arguments, *found));
  return ExitCode::kOk;
}

ExitCode ShowClock(Session& session, const NoArguments&) {
  const auto response = session.client().operations().GetExpiryStatus();
  if (!response.ok()) return session.Fail(response.status());
  const v1::ClockStatus& clock = response->sidecar().clock();
  session.Print(clock, FormatFields({{"clock", ClockText(clock)}}));
  return ExitCode::kOk;
}

ExitCode AcceptClock(Session& session, const NoArguments&) {
  const auto clock = session.client().operations().AcceptClock();
  if (!clock.ok()) return session.Fail(clock.status());
  session.Print(*clock, FormatFields({{"clock", ClockText(*clock)}}));
  return ExitCode::kOk;
}

void PrintPage(Session& session, const v1::ListStuckItemsResponse& page, Table& table) {
  for (const v1::StuckItem& item : page.items()) {
    if (session.structured()) session.Print(item, "");
    AddStuckRow(item, table);
  }
  const std::string text = table.Render();
  if (!session.structured()) session.PrintText(text);
}

ExitCode ListStuck(Session& session, const StuckArguments& arguments) {
  v1::ListStuckItemsRequest request;
  request.set_container(arguments.container);
  Table table = StuckTable();
  int64_t listed = 0;
  do {
    request.set_page_size(static_cast<int32_t>(
        arguments.limit == 0 ? kMaxStuckPageSize
                             : std::min(kMaxStuckPageSize, arguments.limit - listed)));
    const auto page = session.client().operations().ListStuckItems(request);
    if (!page.ok()) return session.Fail(page.status());
    PrintPage(session, *page, table);
    listed += page->items_size();
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && (arguments.limit == 0 || listed < arguments.limit));
  if (!request.page_token().empty()) {
    session.terminal().err << "more may follow: --limit 0 lists all\n";
  }
  return ExitCode::kOk;
}

void AddStuck(CLI::App& app, Command& chosen) {
  auto arguments = std::make_shared<StuckArguments>();
  CLI::App* stuck =
      AddStateCommand(app, "stuck", "List items whose delete failed, ordered by their next attempt",
                      arguments, ListStuck, chosen);
  stuck->footer(kKeyHelp);
  AddContainerId(*stuck, "CONTAINER", [arguments = arguments.get()](std::string id) {
    arguments->container = std::move(id);
  });
  AddIntegerOption(*stuck, "--limit", "Maximum items to list; 0: all; default: 100",
                   [arguments = arguments.get()](int64_t limit) {
                     if (limit < 0) throw CLI::ValidationError("--limit", "must not be negative");
                     arguments->limit = limit;
                   });
}

void AddTarget(CLI::App& command, const std::string& all, TargetArguments& arguments) {
  AddTextOption(command, "CONTAINER", "Id of the container", arguments.container)
      ->type_name(kContainerType);
  command.add_flag("--all", arguments.all, all);
}

}  // namespace

void AddExpiryCommands(CLI::App& app, Command& chosen) {
  auto status_arguments = std::make_shared<TargetArguments>();
  CLI::App* status =
      AddStateCommand(app, "status", "Show the progress of deletes and what holds them back",
                      status_arguments, Status, chosen);
  AddTextOption(*status, "CONTAINER", "Id of one container; all if absent",
                status_arguments->container)
      ->type_name(kContainerType);

  auto pause_arguments = std::make_shared<TargetArguments>();
  CLI::App* pause =
      AddCommand(app, "pause", "Suspend deletes until they are resumed; visibility is not affected",
                 pause_arguments, PauseExpiry, chosen);
  AddTarget(*pause, "All containers, also those created later", *pause_arguments);
  AddTextOption(*pause, "--reason", "Reason, shown to whoever finds the pause",
                pause_arguments->reason)
      ->required();

  auto resume_arguments = std::make_shared<TargetArguments>();
  AddTarget(*AddCommand(app, "resume", "Lift a pause", resume_arguments, ResumeExpiry, chosen),
            "Lift the pause of all containers", *resume_arguments);

  AddStuck(app, chosen);

  CLI::App* clock = app.add_subcommand("clock", "The sidecar's clock");
  clock->require_subcommand(1);
  AddStateCommand(*clock, "show", "Show whether the clock is trusted, and why not",
                  std::make_shared<NoArguments>(), ShowClock, chosen);
  AddCommand(*clock, "accept", "Declare that the wall clock is right",
             std::make_shared<NoArguments>(), AcceptClock, chosen);
}

}  // namespace ttl
