#include "client/ttlctl/commands/holds/apply_holds_command.h"

#include <algorithm>
#include <cstdint>
#include <istream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ttlctl/commands/refusal.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/input/holds_file.h"
#include "client/ttlctl/input/input_file.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/progress_line.h"
#include "nlohmann/json.hpp"
#include "ttl/operator_client.h"
#include "ttl/proto_time.h"

// A container may be accepted only if each of its holds stands, so nothing is accepted before all
// lines were placed, nor if the file does not prove that it is complete. Two kinds of holds are
// left out because nothing is left to hold: those that have ended since the export, by the
// sidecar's clock, and those of containers that no longer exist.
namespace ttl {
namespace {

struct ApplyHoldsArguments {
  std::string file;
  bool no_accept = false;
};

// How far the file was applied.
struct ApplyTally {
  int64_t lines = 0;
  int64_t holds = 0;
  int64_t keys = 0;
  int64_t not_tracked = 0;
  int64_t already_deleted = 0;
  int64_t ended = 0;
  std::set<std::string> missing;  // containers with holds in the file
  std::vector<std::string> accepted;
};

class HoldsApplication {
 public:
  explicit HoldsApplication(Session& session) : session_(session), progress_(session.terminal()) {}

  // Places the holds, and then accepts the containers if `accept` is set.
  absl::Status Run(std::istream& in, bool accept) {
    HoldsFileReader reader(in);
    while (true) {
      const auto request = reader.Next();
      if (!request.ok()) return WithDone(request.status());
      if (!request->has_value()) break;
      const absl::Status placed = Place(**request);
      if (!placed.ok()) {
        return WithDone(absl::Status(
            placed.code(), absl::StrCat("line ", reader.line_number(), ": ", placed.message())));
      }
      ++tally_.lines;
      progress_.Draw(absl::StrCat(FormatCount(tally_.holds), " holds placed, ",
                                  FormatCount(tally_.keys), " keys"));
    }
    if (!accept) return absl::OkStatus();
    return reader.is_complete() ? Accept(reader.containers()) : WithDone(IncompleteFile());
  }

  static absl::Status IncompleteFile() {
    return absl::InvalidArgumentError(
        "does not end with the last line of an export, so holds may be missing: export again, or "
        "place those that are there with --no-accept");
  }

  const ApplyTally& tally() const { return tally_; }

 private:
  absl::Status Place(const v1::PlaceHoldRequest& request) {
    if (tally_.missing.contains(request.container())) return absl::OkStatus();
    const auto response = session_.client().operations().PlaceHold(request);
    if (response.ok()) {
      Count(request, *response);
      return absl::OkStatus();
    }
    if (absl::IsNotFound(response.status())) {
      tally_.missing.insert(request.container());
      return absl::OkStatus();
    }
    if (!absl::IsInvalidArgument(response.status()) || !request.has_until()) {
      return response.status();
    }
    const absl::StatusOr<bool> ended = HasEnded(request);
    if (!ended.ok()) return ended.status();
    if (!*ended) return response.status();
    tally_.ended += StartsHold(request) ? 1 : 0;
    return absl::OkStatus();
  }

  absl::StatusOr<bool> HasEnded(const v1::PlaceHoldRequest& request) {
    const auto status = session_.client().operations().GetExpiryStatus();
    if (!status.ok()) return status.status();
    return ToTime(request.until()) <= ToTime(status->sidecar().clock().now());
  }

  // Whether the line before is of another hold.
  bool StartsHold(const v1::PlaceHoldRequest& request) {
    std::pair<std::string, std::string> hold(request.container(), request.hold_id());
    return std::exchange(last_hold_, hold) != hold;
  }

  void Count(const v1::PlaceHoldRequest& request, const v1::PlaceHoldResponse& response) {
    const auto count = [&response](v1::PlaceHoldResult result) {
      return std::count(response.results().begin(), response.results().end(), result);
    };
    tally_.holds += StartsHold(request) ? 1 : 0;
    tally_.keys += request.keys().keys_size();
    tally_.not_tracked += count(v1::PLACE_HOLD_RESULT_NOT_TRACKED);
    tally_.already_deleted += count(v1::PLACE_HOLD_RESULT_ALREADY_DELETED);
  }

  absl::Status Accept(const std::vector<std::string>& containers) {
    for (const std::string& container : std::set(containers.begin(), containers.end())) {
      const absl::Status status = session_.client().operations().AcceptHolds(container);
      if (absl::IsNotFound(status)) continue;  // missing, with or without holds
      if (!status.ok()) {
        return absl::Status(
            status.code(),
            absl::StrCat(status.message(), "; all holds of the file are placed, but container ",
                         container, IsRefusal(status) ? " is" : " may be",
                         " not accepted; run it again"));
      }
      tally_.accepted.push_back(container);
    }
    return absl::OkStatus();
  }

  absl::Status WithDone(const absl::Status& status) const {
    return absl::Status(status.code(),
                        absl::StrCat(status.message(), "; ", FormatCount(tally_.holds),
                                     " holds are placed, no container is accepted; it can be run "
                                     "again"));
  }

  Session& session_;
  ProgressLine progress_;
  ApplyTally tally_;
  std::pair<std::string, std::string> last_hold_;
};

// OK if every line is valid and, unless --no-accept is given, the file is complete.
absl::Status CheckHoldsFile(std::istream& in, bool accept) {
  HoldsFileReader reader(in);
  while (true) {
    const auto request = reader.Next();
    if (!request.ok()) return request.status();
    if (!request->has_value()) break;
  }
  return accept && !reader.is_complete() ? HoldsApplication::IncompleteFile() : absl::OkStatus();
}

std::string AppliedText(const ApplyTally& tally) {
  std::string text =
      absl::StrCat("placed ", FormatCount(tally.holds), tally.holds == 1 ? " hold" : " holds",
                   " with ", FormatCount(tally.keys), tally.keys == 1 ? " key" : " keys", ": ",
                   FormatCount(tally.not_tracked), " not tracked, ",
                   FormatCount(tally.already_deleted), " already deleted\n");
  if (tally.ended > 0) {
    absl::StrAppend(&text, "left out ", FormatCount(tally.ended), " that ended since the export\n");
  }
  if (!tally.accepted.empty()) {
    absl::StrAppend(&text, "accepted the holds of ", FormatCount(tally.accepted.size()),
                    tally.accepted.size() == 1 ? " container\n" : " containers\n");
  }
  return text;
}

void PrintApplied(Session& session, const ApplyTally& tally) {
  if (!session.structured()) {
    session.PrintText(AppliedText(tally));
    return;
  }
  session.PrintObject({{"holds", tally.holds},
                       {"keys", tally.keys},
                       {"not_tracked", tally.not_tracked},
                       {"already_deleted", tally.already_deleted},
                       {"ended", tally.ended},
                       {"missing_containers", tally.missing},
                       {"accepted_containers", tally.accepted}});
}

ExitCode ApplyHoldsFrom(Session& session, const ApplyHoldsArguments& arguments, std::istream& in) {
  ApplyTally tally;
  absl::Status applied;
  {
    HoldsApplication application(session);
    applied = application.Run(in, !arguments.no_accept);
    tally = application.tally();
  }
  if (!applied.ok()) {
    return session.Fail(absl::Status(
        applied.code(), absl::StrCat(InputName(arguments.file), ": ", applied.message())));
  }
  PrintApplied(session, tally);
  if (tally.missing.empty()) return ExitCode::kOk;
  return session.Fail(absl::NotFoundError(absl::StrCat(
      "left out the holds of containers that do not exist: ", absl::StrJoin(tally.missing, ", "))));
}

ExitCode ApplyHolds(Session& session, const ApplyHoldsArguments& arguments) {
  if (arguments.file == "-") return ApplyHoldsFrom(session, arguments, session.terminal().in);
  auto file = OpenInputFile(arguments.file, "a file of holds export");
  if (!file.ok()) return session.Fail(ExitCode::kUsage, file.status().message());
  if (const absl::Status checked = CheckHoldsFile(*file, !arguments.no_accept); !checked.ok()) {
    return session.Fail(absl::Status(
        checked.code(),
        absl::StrCat(arguments.file, ": ", checked.message(), "; nothing was changed")));
  }
  file->clear();
  file->seekg(0);
  return ApplyHoldsFrom(session, arguments, *file);
}

}  // namespace

void AddApplyHoldsCommand(CLI::App& holds, Command& chosen) {
  auto arguments = std::make_shared<ApplyHoldsArguments>();
  CLI::App* command =
      AddCommand(holds, "apply", "Place the holds of a file of holds export, then accept them",
                 arguments, ApplyHolds, chosen);
  AddTextOption(*command, "FILE",
                "A regular file, whose lines are all validated before anything is sent; or - for "
                "standard input, which is sent while it is read",
                arguments->file)
      ->type_name(kFileType)
      ->required();
  command->add_flag("--no-accept", arguments->no_accept,
                    "Do not state that the holds of the containers in the file are complete");
  command->footer(
      "Holds that stand are kept; those in the file get its reason and end. Holds whose end has\n"
      "passed are left out. If a container does not exist, its holds are left out, and the exit\n"
      "code is 3. If it fails, no container is accepted, and it can be run again.\n");
}

}  // namespace ttl
