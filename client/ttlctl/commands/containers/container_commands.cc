#include "client/ttlctl/commands/containers/container_commands.h"

#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/containers/feed_options.h"
#include "client/ttlctl/commands/containers/policy_options.h"
#include "client/ttlctl/commands/state_command.h"
#include "client/ttlctl/input/key_text.h"
#include "client/ttlctl/text/brake_notice.h"
#include "client/ttlctl/text/container_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/preview_text.h"
#include "client/ttlctl/text/progress_line.h"
#include "client/ttlctl/text/shell_word.h"
#include "ttl/container_client.h"
#include "ttl/error_details.h"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

// Arguments of commands with --dry-run.
struct ChangeArguments : ContainerArguments {
  bool dry_run = false;
  bool force = false;
};

struct DeleteArguments : ContainerArguments {
  bool yes = false;
  bool force = false;
};

struct ListArguments {
  v1::ListContainersRequest request;
};

struct ConfirmArguments {
  std::string container;
  std::string etag;
};

// Fails with the status of a command that has --force.
ExitCode FailChange(Session& session, const std::string& container, const absl::Status& status) {
  const std::string reason = ErrorReason(status);
  if (reason != "HOLDS_STAND" && reason != "SUBSCRIPTIONS_EXIST") return session.Fail(status);
  return session.Fail(
      absl::Status(status.code(),
                   absl::StrCat(status.message(), " (ttlctl ",
                                reason == "HOLDS_STAND" ? "holds" : "subscriptions", " list ",
                                IdArguments({container}), " shows them; --force overrides them)")));
}

ExitCode PreviewCreation(Session& session, const v1::Container& container) {
  v1::PreviewContainerResponse preview;
  absl::Status status;
  {
    ProgressLine line(session.terminal());
    status = session.client().containers().PreviewCreate(
        container, [&](const v1::PreviewContainerResponse& message) {
          preview = message;
          line.Draw(absl::StrCat(FormatCount(message.scanned_items()), " items read"));
        });
  }
  if (!status.ok()) return session.Fail(status);
  session.Print(preview, PreviewText(container, preview));
  return ExitCode::kOk;
}

ExitCode Create(Session& session, const ChangeArguments& arguments) {
  v1::Container container = arguments.container;
  if (const auto brake = arguments.brake.Apply({}); brake.has_value()) {
    *container.mutable_delete_policy()->mutable_brake() = *brake;
  }
  if (const auto windows = arguments.windows.Apply({}); windows.has_value()) {
    *container.mutable_delete_policy()->mutable_windows() = *windows;
  }
  if (arguments.dry_run) return PreviewCreation(session, container);
  const auto created = session.client().containers().Create(container);
  if (!created.ok()) return session.Fail(created.status());
  session.Print(*created, ContainerText(*created));
  return ExitCode::kOk;
}

ExitCode Get(Session& session, const ContainerArguments& arguments) {
  const auto container = session.client().containers().Get(arguments.container.id());
  if (!container.ok()) return session.Fail(container.status());
  session.Print(*container, ContainerText(*container));
  return ExitCode::kOk;
}

ExitCode List(Session& session, const ListArguments& arguments) {
  const auto containers = session.client().containers().List(arguments.request);
  if (!containers.ok()) return session.Fail(containers.status());
  if (!session.structured()) {
    session.PrintText(ContainersText(*containers));
    return ExitCode::kOk;
  }
  for (const v1::Container& container : *containers) session.Print(container, "");
  return ExitCode::kOk;
}

// Sets the resulting brake and windows in `container`, and adds their names to `fields`. The API
// changes each as a whole, so the present ones are read first; the update is refused if the
// container is changed concurrently.
absl::Status EditParts(Session& session, const ContainerArguments& arguments,
                       v1::Container& container, std::vector<std::string>& fields) {
  if (arguments.brake.changes.empty() && arguments.windows.IsEmpty()) return absl::OkStatus();
  const auto present = session.client().containers().Get(container.id());
  if (!present.ok()) return present.status();
  if (container.etag().empty()) container.set_etag(present->etag());
  if (!arguments.brake.changes.empty()) {
    const auto brake = arguments.brake.Apply(present->delete_policy().brake());
    if (brake.has_value()) *container.mutable_delete_policy()->mutable_brake() = *brake;
    fields.push_back("delete_policy.brake");
  }
  if (!arguments.windows.IsEmpty()) {
    const auto windows = arguments.windows.Apply(present->delete_policy().windows());
    if (windows.has_value()) *container.mutable_delete_policy()->mutable_windows() = *windows;
    fields.push_back("delete_policy.windows");
  }
  return absl::OkStatus();
}

ExitCode Set(Session& session, const ChangeArguments& arguments) {
  v1::Container container = arguments.container;
  std::vector<std::string> fields = arguments.named_fields;
  const absl::Status edited = EditParts(session, arguments, container, fields);
  if (!edited.ok()) return session.Fail(edited);
  if (fields.empty()) {
    return session.Fail(ExitCode::kUsage,
                        absl::StrCat("nothing to set: give at least one of ", PolicyOptionNames(),
                                     ", ", FeedOptionNames()));
  }
  v1::UpdateContainerRequest request;
  *request.mutable_container() = std::move(container);
  for (const std::string& path : fields) request.mutable_update_mask()->add_paths(path);
  request.set_force(arguments.force);
  if (arguments.dry_run) {
    const auto preview = session.client().containers().PreviewUpdate(std::move(request));
    if (!preview.ok()) return FailChange(session, arguments.container.id(), preview.status());
    session.Print(*preview, PreviewText(*preview));
    return ExitCode::kOk;
  }
  const auto updated = session.client().containers().Update(request);
  if (!updated.ok()) return FailChange(session, arguments.container.id(), updated.status());
  session.Print(*updated, absl::StrCat(ContainerText(*updated), BrakeNotice(session, *updated)));
  return ExitCode::kOk;
}

ExitCode Confirm(Session& session, const ConfirmArguments& arguments) {
  const auto confirmed =
      session.client().operations().ConfirmPolicy(arguments.container, arguments.etag);
  if (!confirmed.ok()) return session.Fail(confirmed.status());
  session.Print(*confirmed, absl::StrCat("the policy of ", arguments.container,
                                         " is confirmed: the items that it made due will be "
                                         "deleted\n"));
  return ExitCode::kOk;
}

// Asks the user. Anything other than yes, including end of input, is no.
bool Confirmed(Session& session, absl::string_view question) {
  session.terminal().err << TerminalText(absl::StrCat(question, " [y/N] ")) << std::flush;
  std::string answer;
  std::getline(session.terminal().in, answer);
  return answer == "y" || answer == "yes";
}

// "1,234 tracked items", and the holds, if there are any.
std::string TrackedText(const v1::ContainerExpiryStatus& status) {
  std::string text = absl::StrCat(FormatCount(status.items().tracked_items()), " tracked items");
  const int64_t holds = status.hold_counts().holds();
  if (holds > 0) {
    absl::StrAppend(&text, " and ", FormatCount(holds), holds == 1 ? " hold" : " holds");
  }
  return text;
}

ExitCode Delete(Session& session, const DeleteArguments& arguments) {
  const std::string& id = arguments.container.id();
  const auto status = session.client().operations().GetExpiryStatus(id);
  if (!status.ok()) return session.Fail(status.status());
  const std::string items = TrackedText(status->container());
  if (!arguments.yes && !session.terminal().in_is_terminal) {
    return session.Fail(ExitCode::kUsage,
                        absl::StrCat("this would remove container \"", id, "\" and its ", items,
                                     ", and standard input is not a terminal: give --yes"));
  }
  const std::string question =
      absl::StrCat("Remove container \"", id, "\" and its ", items,
                   "? They will not expire any more; nothing is deleted in the store.");
  if (!arguments.yes && !Confirmed(session, question)) {
    return session.Fail(ExitCode::kRefused, "not confirmed; nothing was changed");
  }
  v1::DeleteContainerRequest request;
  request.set_id(id);
  request.set_etag(arguments.container.etag());
  request.set_force(arguments.force);
  const absl::Status deleted = session.client().containers().Delete(request);
  if (!deleted.ok()) return FailChange(session, id, deleted);
  session.Print(v1::DeleteContainerResponse(),
                absl::StrCat("deleted container ", id, " and its ", items,
                             "; nothing is deleted in the store\n"));
  return ExitCode::kOk;
}

void AddId(CLI::App& command, ContainerArguments& arguments) {
  AddContainerId(command, "ID",
                 [&arguments](std::string id) { arguments.container.set_id(std::move(id)); });
}

constexpr char kEtagHelp[] = "Only if this is the container's current etag";

void AddEtag(CLI::App& command, ContainerArguments& arguments) {
  AddParsedOption(command, "--etag", kEtagHelp, "TEXT",
                  [&arguments](const std::string& etag) { arguments.container.set_etag(etag); });
}

void AddList(CLI::App& containers, Command& chosen) {
  auto arguments = std::make_shared<ListArguments>();
  CLI::App* list =
      AddStateCommand(containers, "list", "Show all containers", arguments, List, chosen);
  v1::ListContainersRequest& request = arguments->request;
  AddParsedOption(*list, "--id-prefix", "Show only containers whose id begins with this", "TEXT",
                  [&request](const std::string& prefix) {
                    if (!IsUtf8(prefix)) {
                      throw CLI::ValidationError("--id-prefix", "the id of a container is UTF-8");
                    }
                    request.set_id_prefix(prefix);
                  });
  list->add_flag_callback(
      "--ttl-on-only", [&request] { request.set_ttl_on_only(true); },
      "Show only containers with a default_ttl, also one of -1");
}

void AddConfirm(CLI::App& containers, Command& chosen) {
  auto arguments = std::make_shared<ConfirmArguments>();
  CLI::App* confirm = AddCommand(containers, "confirm",
                                 "Confirm a policy change that pulled the brake, and adopted items "
                                 "that wait; the items are then deleted",
                                 arguments, Confirm, chosen);
  AddContainerId(*confirm, "ID", [arguments = arguments.get()](std::string id) {
    arguments->container = std::move(id);
  });
  AddTextOption(*confirm, "--etag", kEtagHelp, arguments->etag);
}

}  // namespace

void AddContainerCommands(CLI::App& app, Command& chosen) {
  CLI::App* containers = app.add_subcommand("containers", "Containers and their TTL policies");
  containers->require_subcommand(1);

  auto create_arguments = std::make_shared<ChangeArguments>();
  CLI::App* create =
      AddCommand(*containers, "create", "Create a container", create_arguments, Create, chosen);
  AddId(*create, *create_arguments);
  AddPolicyOptions(*create, *create_arguments);
  AddFeedOptions(*create, *create_arguments);
  create->add_flag(
      "--dry-run", create_arguments->dry_run,
      "Create nothing; read the store and show what the container would hide and delete");

  auto get_arguments = std::make_shared<ContainerArguments>();
  AddId(*AddStateCommand(*containers, "get", "Show one container", get_arguments, Get, chosen),
        *get_arguments);

  AddList(*containers, chosen);

  auto set_arguments = std::make_shared<ChangeArguments>();
  CLI::App* set = AddCommand(*containers, "set", "Change the given settings, and no others",
                             set_arguments, Set, chosen);
  AddId(*set, *set_arguments);
  AddPolicyOptions(*set, *set_arguments);
  AddFeedOptions(*set, *set_arguments);
  AddEtag(*set, *set_arguments);
  set->add_flag("--dry-run", set_arguments->dry_run,
                "Change nothing; show what the change would hide and delete");
  set->add_flag("--force", set_arguments->force,
                "Set indexing mode none although holds stand, which are kept, or remove the feed "
                "although it has subscriptions, which are deleted");

  AddConfirm(*containers, chosen);

  auto delete_arguments = std::make_shared<DeleteArguments>();
  CLI::App* remove = AddCommand(*containers, "delete",
                                "Remove a container and its tracked items, after asking; "
                                "deletes nothing in the store",
                                delete_arguments, Delete, chosen);
  AddId(*remove, *delete_arguments);
  AddEtag(*remove, *delete_arguments);
  remove->add_flag("--yes", delete_arguments->yes,
                   "Do not ask; required if standard input is not a terminal");
  remove->add_flag(
      "--force", delete_arguments->force,
      "Remove the container although holds stand or its feed has subscriptions, and them "
      "with it");
}

}  // namespace ttl
