#include "client/ttlctl/commands/containers/export_command.h"

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/text/yaml/containers_file.h"
#include "client/ttlctl/text/yaml/yaml_text.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

struct ExportArguments {
  std::vector<std::string> containers;  // none: all
};

absl::StatusOr<std::vector<v1::Container>> Containers(TtlClient& client,
                                                      const std::vector<std::string>& ids) {
  if (ids.empty()) return client.containers().List();
  std::vector<v1::Container> containers;
  for (const std::string& id : ids) {
    auto container = client.containers().Get(id);
    if (!container.ok()) return container.status();
    containers.push_back(*std::move(container));
  }
  return containers;
}

// What was printed is whole; whoever wants to apply it has to know before.
void WarnOfSize(Session& session, size_t bytes) {
  if (bytes <= kMaxContainersFileBytes) return;
  session.terminal().err << "ttlctl: warning: the file has " << bytes << " bytes, and apply takes "
                         << kMaxContainersFileBytes
                         << ": export the containers into several files\n";
}

// In YAML it is one document, so that it can stand as a file.
ExitCode Export(Session& session, const ExportArguments& arguments) {
  const auto containers = Containers(session.client(), arguments.containers);
  if (!containers.ok()) return session.Fail(containers.status());
  const nlohmann::ordered_json file = ContainersFile(*containers);
  if (session.format() == OutputFormat::kJson) {
    session.PrintObject(file);
    WarnOfSize(session, file.dump().size());
  } else {
    const std::string text = ToYaml(file);
    session.terminal().out << text;
    WarnOfSize(session, text.size());
  }
  return ExitCode::kOk;
}

}  // namespace

void AddExportCommand(CLI::App& app, Command& chosen) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = AddCommand(app, "export", "Print containers as a YAML file for apply",
                                 arguments, Export, chosen);
  command
      ->add_option_function<std::vector<std::string>>(
          "CONTAINER",
          [arguments = arguments.get()](const std::vector<std::string>& ids) {
            for (const std::string& id : ids) arguments->containers.push_back(FromCli11(id));
          },
          "Ids of the containers; all if absent")
      ->type_name(kContainerType);
  command->footer(
      "  ttlctl export > containers.yaml\n"
      "  ttlctl apply -f containers.yaml\n\n"
      "Without -o the format is YAML. apply takes JSON too. The file does not include pauses, "
      "pulled\n"
      "brakes or the limit on all deletes.\n");
}

}  // namespace ttl
