#include "client/ttlctl/commands/holds/export_holds_command.h"

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/input/holds_file.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/progress_line.h"
#include "ttl/container_client.h"
#include "ttl/operator_client.h"

// Which containers the last line names decides what "holds apply" accepts, so they are looked up
// before their holds: a hold that is placed meanwhile may be missing in the file, as it would be a
// moment later, but not all holds of a container that was created meanwhile.
namespace ttl {
namespace {

constexpr int32_t kKeysPerLine = 1000;

struct ExportHoldsArguments {
  std::vector<std::string> containers;  // none: all
};

// Writes the lines of holds.
class HoldsExport {
 public:
  explicit HoldsExport(Session& session) : session_(session), progress_(session.terminal()) {}

  // Those of a container; of all if `container` is empty.
  absl::Status WriteHolds(const std::string& container) {
    const auto holds = session_.client().operations().ListHolds(container);
    if (!holds.ok()) return holds.status();
    for (const v1::Hold& hold : *holds) {
      if (absl::Status written = WriteHold(hold); !written.ok()) return written;
    }
    return absl::OkStatus();
  }

  void WriteEnd(const std::vector<std::string>& containers) {
    session_.terminal().out << HoldsFileLine(HoldsFileEnd{containers, lines_}) << "\n";
  }

 private:
  absl::Status WriteHold(const v1::Hold& hold) {
    v1::PlaceHoldRequest request;
    request.set_container(hold.container());
    request.set_hold_id(hold.hold_id());
    request.set_reason(hold.reason());
    if (hold.has_until()) *request.mutable_until() = hold.until();
    switch (hold.scope_case()) {
      case v1::Hold::kAllItems:
        request.set_all_items(true);
        return WriteLine(request);
      case v1::Hold::kPartitionKey:
        request.set_partition_key(hold.partition_key());
        return WriteLine(request);
      case v1::Hold::kKeyCount:
        return WriteKeys(request);
      default:
        return absl::UnimplementedError(absl::StrCat("hold ", hold.hold_id(), " of container ",
                                                     hold.container(),
                                                     " has a scope newer than this ttlctl"));
    }
  }

  // One line per page of keys.
  absl::Status WriteKeys(v1::PlaceHoldRequest& request) {
    v1::ListHeldKeysRequest keys;
    keys.set_container(request.container());
    keys.set_hold_id(request.hold_id());
    keys.set_page_size(kKeysPerLine);
    do {
      auto page = session_.client().operations().ListHeldKeys(keys);
      // It was released meanwhile. Keys that were written keep too much.
      if (absl::IsNotFound(page.status())) return absl::OkStatus();
      if (!page.ok()) return page.status();
      keys.set_page_token(page->next_page_token());
      if (page->keys().empty()) continue;
      request.mutable_keys()->mutable_keys()->Swap(page->mutable_keys());
      if (absl::Status written = WriteLine(request); !written.ok()) return written;
    } while (!keys.page_token().empty());
    return absl::OkStatus();
  }

  absl::Status WriteLine(const v1::PlaceHoldRequest& request) {
    const absl::StatusOr<std::string> line = HoldsFileLine(request);
    if (!line.ok()) return line.status();
    if (!(session_.terminal().out << *line << "\n")) {
      return absl::DataLossError("what it printed could not be written");
    }
    ++lines_;
    progress_.Draw(absl::StrCat(FormatCount(lines_), " lines written"));
    return absl::OkStatus();
  }

  Session& session_;
  ProgressLine progress_;
  int64_t lines_ = 0;
};

absl::Status WriteAllContainers(Session& session) {
  const auto containers = session.client().containers().List();
  if (!containers.ok()) return containers.status();
  std::vector<std::string> ids;
  for (const v1::Container& container : *containers) ids.push_back(container.id());
  HoldsExport output(session);
  if (absl::Status written = output.WriteHolds(""); !written.ok()) return written;
  output.WriteEnd(ids);
  return absl::OkStatus();
}

absl::Status WriteContainers(Session& session, const std::vector<std::string>& ids) {
  HoldsExport output(session);
  for (const std::string& id : ids) {
    if (absl::Status written = output.WriteHolds(id); !written.ok()) return written;
  }
  output.WriteEnd(ids);
  return absl::OkStatus();
}

ExitCode ExportHolds(Session& session, const ExportHoldsArguments& arguments) {
  if (session.format() == OutputFormat::kYaml) {
    return session.Fail(ExitCode::kUsage, "holds export prints JSON lines, not YAML");
  }
  const absl::Status written = arguments.containers.empty()
                                   ? WriteAllContainers(session)
                                   : WriteContainers(session, arguments.containers);
  return written.ok() ? ExitCode::kOk : session.Fail(written);
}

}  // namespace

void AddExportHoldsCommand(CLI::App& holds, Command& chosen) {
  auto arguments = std::make_shared<ExportHoldsArguments>();
  CLI::App* command =
      AddCommand(holds, "export", "Print holds with all their keys as a file for holds apply",
                 arguments, ExportHolds, chosen);
  command
      ->add_option_function<std::vector<std::string>>(
          "CONTAINER",
          [arguments = arguments.get()](const std::vector<std::string>& ids) {
            for (const std::string& id : ids) arguments->containers.push_back(FromCli11(id));
          },
          "Ids of the containers; all if absent")
      ->type_name(kContainerType);
  command->footer(
      "  ttlctl holds export > holds.jsonl\n"
      "  ttlctl holds apply holds.jsonl\n\n"
      "One JSON object per line, with up to 1,000 keys. The last line names the containers, and\n"
      "shows that the file is complete.\n");
}

}  // namespace ttl
