#include "client/ttlctl/container_commands.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/container_text.h"

namespace ttl {
namespace {

// A container as far as the command line describes it, and the fields that it
// names.
struct ContainerArguments {
  v1::Container container;
  std::vector<std::string> named_fields;
};

struct NoArguments {};

ExitCode Create(Session& session, const ContainerArguments& arguments) {
  const auto created = session.client().CreateContainer(arguments.container);
  if (!created.ok()) return session.Fail(created.status());
  session.Print(*created, ContainerText(*created));
  return ExitCode::kOk;
}

ExitCode Get(Session& session, const ContainerArguments& arguments) {
  const auto container = session.client().GetContainer(arguments.container.id());
  if (!container.ok()) return session.Fail(container.status());
  session.Print(*container, ContainerText(*container));
  return ExitCode::kOk;
}

ExitCode List(Session& session, const NoArguments&) {
  const auto containers = session.client().ListContainers();
  if (!containers.ok()) return session.Fail(containers.status());
  if (!session.json()) {
    session.terminal().out << ContainersText(*containers);
    return ExitCode::kOk;
  }
  for (const v1::Container& container : *containers) session.Print(container, "");
  return ExitCode::kOk;
}

ExitCode Set(Session& session, const ContainerArguments& arguments) {
  if (arguments.named_fields.empty()) {
    return session.Fail(ExitCode::kUsage,
                        "nothing to set: give at least one of --default-ttl, --indexing-mode, "
                        "--max-deletes-per-second, --delay-seconds");
  }
  const auto updated =
      session.client().UpdateContainer(arguments.container, arguments.named_fields);
  if (!updated.ok()) return session.Fail(updated.status());
  session.Print(*updated, ContainerText(*updated));
  return ExitCode::kOk;
}

ExitCode Delete(Session& session, const ContainerArguments& arguments) {
  const v1::Container& container = arguments.container;
  const absl::Status status = session.client().DeleteContainer(container.id(), container.etag());
  if (!status.ok()) return session.Fail(status);
  session.Print(v1::DeleteContainerResponse(),
                absl::StrCat("deleted container ", container.id(),
                             "; nothing of it is deleted in the store\n"));
  return ExitCode::kOk;
}

void ParseDefaultTtl(const std::string& text, v1::Container& container) {
  int64_t seconds;
  if (text == "off") {
    container.clear_default_ttl();
  } else if (absl::SimpleAtoi(text, &seconds)) {
    container.set_default_ttl(seconds);
  } else {
    throw CLI::ValidationError(
        "--default-ttl",
        absl::StrCat("\"", text, "\" must be off, -1 or a whole number of seconds"));
  }
}

void ParseIndexingMode(const std::string& text, v1::Container& container) {
  if (text == "consistent") {
    container.set_indexing_mode(v1::INDEXING_MODE_CONSISTENT);
  } else if (text == "lazy") {
    container.set_indexing_mode(v1::INDEXING_MODE_LAZY);
  } else if (text == "none") {
    container.set_indexing_mode(v1::INDEXING_MODE_NONE);
  } else {
    throw CLI::ValidationError("--indexing-mode",
                               absl::StrCat("\"", text, "\" must be consistent, lazy or none"));
  }
}

void ParseDeleteRate(const std::string& text, v1::Container& container) {
  double rate;
  if (text == "default") {
    container.mutable_delete_policy()->clear_max_deletes_per_second();
  } else if (absl::SimpleAtod(text, &rate)) {
    container.mutable_delete_policy()->set_max_deletes_per_second(rate);
  } else {
    throw CLI::ValidationError("--max-deletes-per-second",
                               absl::StrCat("\"", text, "\" must be default or a number"));
  }
}

void AddPolicyOptions(CLI::App& command, const std::shared_ptr<ContainerArguments>& arguments) {
  AddParsedOption(command, "--default-ttl",
                  "Time to live in seconds of items that have none of their own; -1: items "
                  "expire only by their own ttl; off: nothing expires",
                  "N|-1|off", [arguments](const std::string& text) {
                    arguments->named_fields.push_back("default_ttl");
                    ParseDefaultTtl(text, arguments->container);
                  });
  AddParsedOption(command, "--indexing-mode", "How the expiry index is kept",
                  "consistent|lazy|none", [arguments](const std::string& text) {
                    arguments->named_fields.push_back("indexing_mode");
                    ParseIndexingMode(text, arguments->container);
                  });
  AddParsedOption(command, "--max-deletes-per-second",
                  "Most deletes sent to the store per second; 0: none; default: what the server "
                  "gives to containers that say nothing",
                  "X|default", [arguments](const std::string& text) {
                    arguments->named_fields.push_back("delete_policy.max_deletes_per_second");
                    ParseDeleteRate(text, arguments->container);
                  });
  AddIntegerOption(
      command, "--delay-seconds",
      "How long an expired item is kept, invisible, before it may be deleted",
      [arguments](int64_t seconds) {
        arguments->named_fields.push_back("delete_policy.delay");
        arguments->container.mutable_delete_policy()->mutable_delay()->set_seconds(seconds);
      });
}

void AddId(CLI::App& command, const std::shared_ptr<ContainerArguments>& arguments) {
  AddContainerId(command, "ID",
                 [arguments](std::string id) { arguments->container.set_id(std::move(id)); });
}

void AddEtag(CLI::App& command, const std::shared_ptr<ContainerArguments>& arguments) {
  AddParsedOption(command, "--etag", "Only if this is the container's current etag", "TEXT",
                  [arguments](const std::string& etag) { arguments->container.set_etag(etag); });
}

}  // namespace

void AddContainerCommands(CLI::App& app, Command& chosen) {
  CLI::App* containers = app.add_subcommand("containers", "Containers and their TTL policies");
  containers->require_subcommand(1);

  auto create_arguments = std::make_shared<ContainerArguments>();
  CLI::App* create =
      AddCommand(*containers, "create", "Create a container", create_arguments, Create, chosen);
  AddId(*create, create_arguments);
  AddPolicyOptions(*create, create_arguments);

  auto get_arguments = std::make_shared<ContainerArguments>();
  AddId(*AddCommand(*containers, "get", "Show one container", get_arguments, Get, chosen),
        get_arguments);

  AddCommand(*containers, "list", "Show all containers", std::make_shared<NoArguments>(), List,
             chosen);

  auto set_arguments = std::make_shared<ContainerArguments>();
  CLI::App* set = AddCommand(*containers, "set", "Change the given settings and no others",
                             set_arguments, Set, chosen);
  AddId(*set, set_arguments);
  AddPolicyOptions(*set, set_arguments);
  AddEtag(*set, set_arguments);

  auto delete_arguments = std::make_shared<ContainerArguments>();
  CLI::App* remove = AddCommand(*containers, "delete",
                                "Forget a container and all that is tracked in it; deletes nothing "
                                "in the store",
                                delete_arguments, Delete, chosen);
  AddId(*remove, delete_arguments);
  AddEtag(*remove, delete_arguments);
}

}  // namespace ttl
