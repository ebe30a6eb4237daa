#include "client/ttlctl/commands/containers/apply_command.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/refusal.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/input/container_change.h"
#include "client/ttlctl/text/brake_notice.h"
#include "client/ttlctl/text/preview_text.h"
#include "client/ttlctl/text/shell_word.h"
#include "client/ttlctl/text/table.h"
#include "client/ttlctl/text/yaml/containers_file.h"
#include "nlohmann/json.hpp"
#include "service/yaml/container_entries.h"
#include "ttl/container_client.h"
#include "ttl/error_details.h"

namespace ttl {
namespace {

struct ApplyArguments {
  std::string file;
  bool dry_run = false;
};

// What has to be done for one entry. `wanted` has the etag of the container from which the changes
// were computed, so that no concurrent change is overwritten.
struct Step {
  v1::Container wanted;
  bool create = false;
  std::vector<FieldChange> changes;
  v1::UpdateContainerResponse preview;  // if there are changes

  bool is_needed() const { return create || !changes.empty(); }

  std::vector<std::string> paths() const {
    std::vector<std::string> paths;
    for (const FieldChange& change : changes) paths.push_back(change.path);
    return paths;
  }
};

// The command has no --force, because it would hold for every container of the file.
std::string RefusalAdvice(const std::string& container, const absl::Status& status) {
  const std::string reason = ErrorReason(status);
  if (reason != "HOLDS_STAND" && reason != "SUBSCRIPTIONS_EXIST") return "";
  return absl::StrCat(" (ttlctl containers set ",
                      reason == "HOLDS_STAND" ? "--indexing-mode none" : "--feed off", " --force ",
                      IdArguments({container}), " overrides them)");
}

absl::Status About(const v1::Container& container, const absl::Status& status) {
  return absl::Status(
      status.code(), absl::StrCat("container \"", absl::Utf8SafeCEscape(container.id()),
                                  "\": ", status.message(), RefusalAdvice(container.id(), status)));
}

// Reads the whole input. INVALID_ARGUMENT if it cannot be read or is too long.
absl::StatusOr<std::string> ReadAll(std::istream& in) {
  std::string text(kMaxContainersFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return absl::InvalidArgumentError("cannot be read to its end");
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() <= kMaxContainersFileBytes) return text;
  return absl::InvalidArgumentError(
      absl::StrCat("is longer than ", kMaxContainersFileBytes, " bytes; give several files"));
}

absl::StatusOr<std::string> ReadFile(Session& session, const std::string& path) {
  if (path == "-") return ReadAll(session.terminal().in);
  if (std::error_code error; std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError("is a directory; give a file, or - for standard input");
  }
  std::ifstream file(path, std::ios::binary);
  if (file.is_open()) return ReadAll(file);
  return absl::InvalidArgumentError(
      absl::StrCat("cannot be opened: ", std::generic_category().message(errno)));
}

absl::StatusOr<Step> PlanStep(TtlClient& client, const ContainerEntry& entry) {
  Step step;
  step.wanted = ContainerOf(entry);
  const auto present = client.containers().Get(entry.id);
  if (absl::IsNotFound(present.status())) {
    step.create = true;
    return step;
  }
  if (!present.ok()) return About(step.wanted, present.status());
  step.changes = Differences(*present, step.wanted);
  if (step.changes.empty()) return step;
  step.wanted.set_etag(present->etag());
  auto preview = client.containers().PreviewUpdate(step.wanted, step.paths());
  if (!preview.ok()) return About(step.wanted, preview.status());
  step.preview = *std::move(preview);
  return step;
}

absl::StatusOr<std::vector<Step>> PlanAll(TtlClient& client,
                                          const std::vector<ContainerEntry>& entries) {
  std::vector<Step> steps;
  for (const ContainerEntry& entry : entries) {
    auto step = PlanStep(client, entry);
    if (!step.ok()) {
      return absl::Status(step.status().code(),
                          absl::StrCat(step.status().message(), "; nothing was changed"));
    }
    steps.push_back(*std::move(step));
  }
  return steps;
}

absl::StatusOr<v1::Container> Carry(TtlClient& client, const Step& step) {
  return step.create ? client.containers().Create(step.wanted)
                     : client.containers().Update(step.wanted, step.paths());
}

nlohmann::ordered_json ChangesJson(const std::vector<FieldChange>& changes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FieldChange& change : changes) {
    list.push_back({{"field", change.path}, {"from", change.from}, {"to", change.to}});
  }
  return list;
}

// Prints the outcome of each entry, in the order of `steps`.
class Report {
 public:
  Report(Session& session, const std::vector<Step>& steps)
      : session_(session), table_({"CONTAINER", "OUTCOME", "CHANGES"}) {
    for (const Step& step : steps) table_.Reserve({step.wanted.id(), "", ""});
  }

  void Add(const Step& step, const std::string& outcome) {
    if (session_.structured()) {
      nlohmann::ordered_json line = {{"container", step.wanted.id()},
                                     {"outcome", outcome},
                                     {"changes", ChangesJson(step.changes)}};
      if (step.preview.has_preview()) {
        line["preview"] = nlohmann::ordered_json::parse(ToJson(step.preview.preview()));
      }
      session_.PrintObject(line);
      return;
    }
    table_.AddRow({step.wanted.id(), outcome, ChangesText(step.changes)});
    session_.PrintText(table_.Render());
  }

 private:
  Session& session_;
  Table table_;
};

std::string PlannedOutcome(const Step& step) {
  if (step.create) return "would be created";
  return step.changes.empty() ? "unchanged" : "would be changed";
}

std::string Outcome(const Step& step) {
  if (step.create) return "created";
  return step.changes.empty() ? "unchanged" : "changed";
}

void ShowPlan(Session& session, const std::vector<Step>& steps) {
  Report report(session, steps);
  for (const Step& step : steps) report.Add(step, PlannedOutcome(step));
  if (session.structured()) return;
  for (const Step& step : steps) {
    if (!step.changes.empty()) session.PrintText(absl::StrCat("\n", PreviewText(step.preview)));
  }
}

absl::Status WithFate(const Step& step, const absl::Status& status, size_t done, size_t all) {
  return absl::Status(
      status.code(),
      absl::StrCat(About(step.wanted, status).message(), "; ", done, " of ", all,
                   " containers are as in the file, this one ",
                   IsRefusal(status) ? "is not" : "may be", ", nothing was sent for the others"));
}

absl::Status CarryAll(Session& session, const std::vector<Step>& steps) {
  Report report(session, steps);
  std::string notices;
  absl::Status status;
  for (size_t i = 0; i < steps.size() && status.ok(); ++i) {
    if (steps[i].is_needed()) {
      const auto container = Carry(session.client(), steps[i]);
      if (!container.ok()) {
        status = WithFate(steps[i], container.status(), i, steps.size());
        break;
      }
      notices += BrakeNotice(session, *container);
    }
    report.Add(steps[i], Outcome(steps[i]));
  }
  session.PrintText(notices);
  return status;
}

ExitCode FailWith(Session& session, const std::string& file, const absl::Status& status) {
  return session.Fail(absl::Status(status.code(), absl::StrCat(file, ": ", status.message())));
}

ExitCode Apply(Session& session, const ApplyArguments& arguments) {
  const std::string file = arguments.file == "-" ? "standard input" : arguments.file;
  const auto text = ReadFile(session, arguments.file);
  if (!text.ok()) {
    return session.Fail(ExitCode::kUsage, absl::StrCat(file, ": ", text.status().message()));
  }
  const auto entries = ParseContainers(file, *text);
  if (!entries.ok()) return session.Fail(entries.status());
  if (entries->empty()) session.terminal().err << file << " names no containers\n";
  const auto steps = PlanAll(session.client(), *entries);
  if (!steps.ok()) return FailWith(session, file, steps.status());
  if (arguments.dry_run) {
    ShowPlan(session, *steps);
    return ExitCode::kOk;
  }
  const absl::Status carried = CarryAll(session, *steps);
  return carried.ok() ? ExitCode::kOk : FailWith(session, file, carried);
}

}  // namespace

void AddApplyCommand(CLI::App& app, Command& chosen) {
  auto arguments = std::make_shared<ApplyArguments>();
  CLI::App* command = AddCommand(app, "apply", "Create and update containers from a YAML file",
                                 arguments, Apply, chosen);
  AddTextOption(*command, "-f,--file",
                "File of containers in YAML, as for ttl-sidecar --containers; or -, standard input",
                arguments->file)
      ->type_name(kFileType)
      ->required();
  command->add_flag("--dry-run", arguments->dry_run,
                    "Change nothing; show what would change, and the effect on the tracked "
                    "items");
  command->footer(
      "An entry describes its container as a whole: missing settings are set to their defaults.\n"
      "Containers that are not in the file, and pauses, are not changed. The whole file is read\n"
      "and every change is validated before the first is made; containers that are already as in\n"
      "the file are not written. If a container is changed concurrently, its entry is refused.\n");
}

}  // namespace ttl
