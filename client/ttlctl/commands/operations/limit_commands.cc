#include "client/ttlctl/commands/operations/limit_commands.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/state_command.h"
#include "client/ttlctl/text/container_status_text.h"
#include "client/ttlctl/text/count_text.h"
#include "nlohmann/json.hpp"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

struct LimitArguments {
  std::string limit;  // "none", "default" or a number
  double per_second = 0;
};

struct StoreArguments {
  std::string store_id;
};

void ParseLimit(const std::string& text, LimitArguments& arguments) {
  arguments.limit = text;
  if (text == "none" || text == "default") return;
  if (absl::SimpleAtod(text, &arguments.per_second)) return;
  RefuseValue("--max-deletes-per-second", text, "none, default or a number", "none|default");
}

absl::StatusOr<std::optional<double>> SetLimit(TtlClient& client, const LimitArguments& arguments) {
  if (arguments.limit == "none") return client.operations().SetUnlimitedDeletes();
  if (arguments.limit == "default") return client.operations().ResetMaxDeletesPerSecond();
  return client.operations().SetMaxDeletesPerSecond(arguments.per_second);
}

ExitCode Set(Session& session, const LimitArguments& arguments) {
  const auto found = session.client().operations().GetExpiryStatus();
  if (!found.ok()) return session.Fail(found.status());
  const auto limit = SetLimit(session.client(), arguments);
  if (!limit.ok()) return session.Fail(limit.status());
  v1::SetMaxDeletesPerSecondResponse response;
  if (limit->has_value()) response.set_max_deletes_per_second(**limit);
  const v1::SidecarStatus& before = found->sidecar();
  session.Print(
      response,
      absl::StrCat(
          "deletes over all containers: ", LimitText(limit->has_value(), limit->value_or(0)),
          "; before: ",
          LimitText(before.has_max_deletes_per_second(), before.max_deletes_per_second()), "\n"));
  return ExitCode::kOk;
}

// The limit over all containers, and what each may delete now.
nlohmann::ordered_json LimitsObject(const v1::ListExpiryStatusesResponse& statuses) {
  nlohmann::ordered_json object = {{"max_deletes_per_second", nullptr}};
  if (statuses.sidecar().has_max_deletes_per_second()) {
    object["max_deletes_per_second"] = statuses.sidecar().max_deletes_per_second();
  }
  object["containers"] = nlohmann::ordered_json::array();
  for (const v1::ContainerExpiryStatus& status : statuses.containers()) {
    nlohmann::ordered_json container = {{"container", status.container()},
                                        {"allowed_deletes_per_second", nullptr}};
    if (status.has_allowed_deletes_per_second()) {
      container["allowed_deletes_per_second"] = status.allowed_deletes_per_second();
    }
    object["containers"].push_back(std::move(container));
  }
  return object;
}

ExitCode Show(Session& session, const NoArguments&) {
  const auto statuses = session.client().operations().ListExpiryStatuses();
  if (!statuses.ok()) return session.Fail(statuses.status());
  if (session.structured()) {
    session.PrintObject(LimitsObject(*statuses));
  } else {
    session.PrintText(LimitsText(*statuses));
  }
  return ExitCode::kOk;
}

ExitCode ConfirmStore(Session& session, const StoreArguments& arguments) {
  const absl::Status status = session.client().operations().ConfirmStore(arguments.store_id);
  if (!status.ok()) return session.Fail(status);
  session.Print(v1::ConfirmStoreResponse(),
                absl::StrCat("store ", arguments.store_id,
                             " is confirmed: deletes resume when the reconciliation that starts "
                             "now is done; follow it with ttlctl rebuild\n"));
  return ExitCode::kOk;
}

}  // namespace

void AddLimitCommands(CLI::App& app, Command& chosen) {
  CLI::App* limits = app.add_subcommand("limits", "Limit on deletes of all containers");
  limits->require_subcommand(1);
  AddStateCommand(*limits, "show",
                  "Show the limit over all containers, and what each container may delete now",
                  std::make_shared<NoArguments>(), Show, chosen);
  auto limit_arguments = std::make_shared<LimitArguments>();
  CLI::App* set = AddCommand(*limits, "set", "Change a limit, at once and durably", limit_arguments,
                             Set, chosen);
  AddParsedOption(*set, "--max-deletes-per-second",
                  "Maximum deletes per second over all containers; 0: no deletes; none: no limit; "
                  "default: the server's --max-deletes-per-second",
                  "X|none|default",
                  [arguments = limit_arguments.get()](const std::string& text) {
                    ParseLimit(text, *arguments);
                  })
      ->required();

  CLI::App* store = app.add_subcommand("store", "The primary store");
  store->require_subcommand(1);
  auto store_arguments = std::make_shared<StoreArguments>();
  CLI::App* confirm = AddCommand(
      *store, "confirm",
      "Confirm that the connected store is the right one; deletes resume after a reconciliation",
      store_arguments, ConfirmStore, chosen);
  AddTextOption(*confirm, "STORE_ID", "Id of the store, as shown by ttlctl status",
                store_arguments->store_id)
      ->required();
}

}  // namespace ttl
