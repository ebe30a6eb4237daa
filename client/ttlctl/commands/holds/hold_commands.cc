#include "client/ttlctl/commands/holds/hold_commands.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/holds/apply_holds_command.h"
#include "client/ttlctl/commands/holds/export_holds_command.h"
#include "client/ttlctl/commands/holds/hold_arguments.h"
#include "client/ttlctl/commands/holds/place_hold_command.h"
#include "client/ttlctl/commands/key_help.h"
#include "client/ttlctl/commands/state_command.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/text/holds/placed_hold_text.h"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

constexpr int32_t kKeysPerPage = 1000;

struct ListHoldsArguments {
  std::string container;  // empty: all
};

ExitCode ReleaseHold(Session& session, const HoldArguments& arguments) {
  const absl::Status released =
      session.client().operations().ReleaseHold(arguments.container, arguments.hold_id);
  if (!released.ok()) return session.Fail(released);
  session.Print(
      v1::ReleaseHoldResponse(),
      absl::StrCat("released hold ", arguments.hold_id, " of container ", arguments.container,
                   ": expired items that no other hold covers will be deleted\n"));
  return ExitCode::kOk;
}

ExitCode ListHolds(Session& session, const ListHoldsArguments& arguments) {
  const auto holds = session.client().operations().ListHolds(arguments.container);
  if (!holds.ok()) return session.Fail(holds.status());
  if (holds->empty() && !session.structured()) session.PrintText("no holds\n");
  Table table = PlacedHoldTable();
  for (const v1::Hold& hold : *holds) {
    if (session.structured()) session.Print(hold, "");
    AddPlacedHoldRow(hold, table);
  }
  if (!holds->empty() && !session.structured()) session.PrintText(table.Render());
  return ExitCode::kOk;
}

ExitCode ListHeldKeys(Session& session, const HoldArguments& arguments) {
  v1::ListHeldKeysRequest request;
  request.set_container(arguments.container);
  request.set_hold_id(arguments.hold_id);
  request.set_page_size(kKeysPerPage);
  Table table = HeldKeyTable();
  do {
    const auto page = session.client().operations().ListHeldKeys(request);
    if (!page.ok()) return session.Fail(page.status());
    for (const v1::HeldKey& key : page->keys()) {
      if (session.structured()) session.Print(key, "");
      AddHeldKeyRow(key, table);
    }
    const std::string text = table.Render();
    if (!session.structured()) session.PrintText(text);
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return ExitCode::kOk;
}

ExitCode AcceptHolds(Session& session, const ListHoldsArguments& arguments) {
  const absl::Status accepted = session.client().operations().AcceptHolds(arguments.container);
  if (!accepted.ok()) return session.Fail(accepted);
  session.Print(v1::AcceptHoldsResponse(),
                absl::StrCat("the holds of container ", arguments.container,
                             " are accepted as complete: what they do not cover may be deleted\n"));
  return ExitCode::kOk;
}

void AddListHolds(CLI::App& holds, Command& chosen) {
  auto arguments = std::make_shared<ListHoldsArguments>();
  CLI::App* list = AddStateCommand(holds, "list", "Show the holds of a container, or all holds",
                                   arguments, ListHolds, chosen);
  AddTextOption(*list, "CONTAINER", "Id of a container; default: all containers",
                arguments->container)
      ->type_name(kContainerType);
}

void AddAcceptHolds(CLI::App& holds, Command& chosen) {
  auto arguments = std::make_shared<ListHoldsArguments>();
  CLI::App* accept =
      AddCommand(holds, "accept",
                 "State that the holds of a container are complete; deletes that waited for this "
                 "resume",
                 arguments, AcceptHolds, chosen);
  AddContainerId(*accept, "CONTAINER", [arguments = arguments.get()](std::string id) {
    arguments->container = std::move(id);
  });
}

}  // namespace

void AddHoldCommands(CLI::App& app, Command& chosen) {
  CLI::App* holds =
      app.add_subcommand("holds", "Holds, which keep expired items from being deleted");
  holds->require_subcommand(1);
  holds->footer(kKeyHelp);  // also that of the subcommands
  AddPlaceHoldCommand(*holds, chosen);
  auto release_arguments = std::make_shared<HoldArguments>();
  AddHoldName(*AddCommand(*holds, "release",
                          "End a hold; expired items that no other hold covers are deleted",
                          release_arguments, ReleaseHold, chosen),
              *release_arguments);
  AddListHolds(*holds, chosen);
  auto keys_arguments = std::make_shared<HoldArguments>();
  AddHoldName(*AddCommand(*holds, "keys", "Show the keys of a hold; none for other holds",
                          keys_arguments, ListHeldKeys, chosen),
              *keys_arguments);
  AddExportHoldsCommand(*holds, chosen);
  AddApplyHoldsCommand(*holds, chosen);
  AddAcceptHolds(*holds, chosen);
}

}  // namespace ttl
