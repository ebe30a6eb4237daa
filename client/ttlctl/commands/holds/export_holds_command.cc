#include "client/ttlctl/commands/holds/export_holds_command.h"

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/input/holds_file.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/hold_text.h"
#include "client/ttlctl/text/progress_line.h"
#include "ttl/operator_client.h"

// Which containers the last line names decides what "holds apply" accepts, so they are looked up
// before their holds: a hold that is placed meanwhile may be missing in the file, as it would be a
// moment later, but not all holds of a container that was created meanwhile. A container whose
// holds are in doubt is not named: after a restore of an older backup the file would claim that
// holds which are missing do not exist. Doubt may also begin while the holds are read, when the
// sidecar is replaced by a restored one, so it is asked about again afterwards.
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

// Whether the holds of each container may be incomplete: of `ids`, of all containers if empty.
absl::StatusOr<std::map<std::string, bool>> ReadDoubts(Session& session,
                                                       const std::vector<std::string>& ids) {
  std::map<std::string, bool> doubts;
  for (const std::string& id : ids) {
    const auto status = session.client().operations().GetExpiryStatus(id);
    if (!status.ok()) return status.status();
    doubts[id] = AreHoldsInDoubt(status->container().holds());
  }
  if (!ids.empty()) return doubts;
  const auto statuses = session.client().operations().ListExpiryStatuses();
  if (!statuses.ok()) return statuses.status();
  for (const v1::ContainerExpiryStatus& status : statuses->containers()) {
    doubts[status.container()] = AreHoldsInDoubt(status.holds());
  }
  return doubts;
}

// Writes the file, and returns the containers that its last line does not name.
absl::StatusOr<std::vector<std::string>> WriteFile(Session& session,
                                                   const std::vector<std::string>& ids) {
  const auto before = ReadDoubts(session, ids);
  if (!before.ok()) return before.status();
  HoldsExport output(session);
  for (const std::string& id : ids.empty() ? std::vector<std::string>{""} : ids) {
    if (absl::Status written = output.WriteHolds(id); !written.ok()) return written;
  }
  const auto after = ReadDoubts(session, ids);
  if (!after.ok()) return after.status();
  std::vector<std::string> complete;
  std::vector<std::string> in_doubt;
  for (const auto& [id, was_in_doubt] : *before) {
    const auto now = after->find(id);
    if (now == after->end()) continue;  // deleted meanwhile
    (was_in_doubt || now->second ? in_doubt : complete).push_back(id);
  }
  output.WriteEnd(complete);
  return in_doubt;
}

ExitCode ExportHolds(Session& session, const ExportHoldsArguments& arguments) {
  if (session.format() == OutputFormat::kYaml) {
    return session.Fail(ExitCode::kUsage, "holds export prints JSON lines, not YAML");
  }
  const auto in_doubt = WriteFile(session, arguments.containers);
  if (!in_doubt.ok()) return session.Fail(in_doubt.status());
  if (in_doubt->empty()) return ExitCode::kOk;
  return session.Fail(ExitCode::kRefused,
                      absl::StrCat("holds of these containers may be missing, so the last line "
                                   "does not name them; keep the last file that does: ",
                                   absl::StrJoin(*in_doubt, ", ")));
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
      "shows that the file is complete. Containers whose holds are in doubt are not named, and\n"
      "the exit code is then 1.\n");
}

}  // namespace ttl
