#include "client/ttlctl/commands/holds/apply_holds_command.h"

#include <algorithm>
#include <cstdint>
#include <istream>
#include <map>
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
#include "service/base/time_text.h"
#include "ttl/operator_client.h"
#include "ttl/proto_time.h"

// A container may be accepted only if each of its holds stands, so nothing is accepted before all
// lines were placed, nor if the file does not prove that it is complete, nor a container of which a
// line was left out, except one of a hold that has ended since the export, by the sidecar's clock.
//
// A line that the sidecar refuses for good, such as one of a hold that stands with another scope,
// does not keep the others from being placed. And no line ends a hold earlier: a hold that stands
// may have been extended since the export.
namespace ttl {
namespace {

struct ApplyHoldsArguments {
  std::string file;
  bool no_accept = false;
};

// Lines or holds of the file, of which the first are listed.
struct Listing {
  static constexpr int64_t kMaxListed = 20;

  void Add(nlohmann::ordered_json entry) {
    if (count++ < kMaxListed) first.push_back(std::move(entry));
  }

  int64_t count = 0;
  nlohmann::ordered_json first = nlohmann::ordered_json::array();
};

// How far the file was applied.
struct ApplyTally {
  int64_t lines = 0;
  int64_t holds = 0;
  int64_t keys = 0;
  int64_t not_tracked = 0;
  int64_t already_deleted = 0;
  int64_t ended = 0;
  Listing kept_ends;                // holds that stand with a later end than in the file
  Listing refused;                  // lines
  std::set<std::string> missing;    // containers with holds in the file
  std::set<std::string> deficient;  // containers with refused lines
  std::vector<std::string> accepted;
};

// Whether the sidecar refused a line for what the line says, or for what stands.
bool IsRefusalOfLine(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsResourceExhausted(status) ||
         absl::IsInvalidArgument(status);
}

// When holds end; never: InfiniteFuture().
class HoldEnds {
 public:
  absl::Status Load(Session& session) {
    const auto holds = session.client().operations().ListHolds();
    if (!holds.ok()) return holds.status();
    for (const v1::Hold& hold : *holds) ends_[IdOf(hold)] = EndOf(hold);
    return absl::OkStatus();
  }

  // Gives the request the end of the hold that stands, if that is later. Returns whether it is.
  bool KeepLater(v1::PlaceHoldRequest& request) const {
    const auto standing = ends_.find(IdOf(request));
    if (standing == ends_.end() || standing->second <= EndOf(request)) return false;
    request.clear_until();
    if (standing->second != absl::InfiniteFuture()) {
      *request.mutable_until() = ToTimestamp(standing->second);
    }
    return true;
  }

  void Set(const v1::PlaceHoldRequest& placed) { ends_[IdOf(placed)] = EndOf(placed); }

 private:
  // Of a hold, or of the request that places it.
  template <typename Hold>
  static std::pair<std::string, std::string> IdOf(const Hold& hold) {
    return {hold.container(), hold.hold_id()};
  }
  template <typename Hold>
  static absl::Time EndOf(const Hold& hold) {
    return hold.has_until() ? ToTime(hold.until()) : absl::InfiniteFuture();
  }

  std::map<std::pair<std::string, std::string>, absl::Time> ends_;
};

class HoldsApplication {
 public:
  explicit HoldsApplication(Session& session) : session_(session), progress_(session.terminal()) {}

  // Places the holds, and then accepts the containers if `accept` is set.
  absl::Status Run(std::istream& in, bool accept) {
    if (absl::Status loaded = ends_.Load(session_); !loaded.ok()) return WithDone(loaded);
    HoldsFileReader reader(in);
    while (true) {
      auto request = reader.Next();
      if (!request.ok()) return WithDone(request.status());
      if (!request->has_value()) break;
      const absl::Status placed = Place(**request, reader.line_number());
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
  absl::Status Place(v1::PlaceHoldRequest& request, int64_t line) {
    if (tally_.missing.contains(request.container())) return absl::OkStatus();
    const bool kept_end = ends_.KeepLater(request);
    const auto response = session_.client().operations().PlaceHold(request);
    if (response.ok()) {
      ends_.Set(request);
      Count(request, *response, kept_end);
      return absl::OkStatus();
    }
    if (absl::IsNotFound(response.status())) {
      tally_.missing.insert(request.container());
      return absl::OkStatus();
    }
    if (!IsRefusalOfLine(response.status())) return response.status();
    const absl::StatusOr<bool> ended = HasEnded(request, response.status());
    if (!ended.ok()) return ended.status();
    if (*ended) {
      tally_.ended += StartsHold(request) ? 1 : 0;
    } else {
      Refuse(request, line, response.status());
    }
    return absl::OkStatus();
  }

  // Whether the hold was refused because its end has passed.
  absl::StatusOr<bool> HasEnded(const v1::PlaceHoldRequest& request, const absl::Status& refusal) {
    if (!absl::IsInvalidArgument(refusal) || !request.has_until()) return false;
    const auto status = session_.client().operations().GetExpiryStatus();
    if (!status.ok()) return status.status();
    return ToTime(request.until()) <= ToTime(status->sidecar().clock().now());
  }

  void Refuse(const v1::PlaceHoldRequest& request, int64_t line, const absl::Status& refusal) {
    tally_.deficient.insert(request.container());
    tally_.refused.Add({{"line", line},
                        {"container", request.container()},
                        {"hold_id", request.hold_id()},
                        {"error", std::string(refusal.message())}});
  }

  // Whether the line before is of another hold.
  bool StartsHold(const v1::PlaceHoldRequest& request) {
    std::pair<std::string, std::string> hold(request.container(), request.hold_id());
    return std::exchange(last_hold_, hold) != hold;
  }

  void Count(const v1::PlaceHoldRequest& request, const v1::PlaceHoldResponse& response,
             bool kept_end) {
    const auto count = [&response](v1::PlaceHoldResult result) {
      return std::count(response.results().begin(), response.results().end(), result);
    };
    if (StartsHold(request)) {
      ++tally_.holds;
      if (kept_end) AddKeptEnd(request);
    }
    tally_.keys += request.keys().keys_size();
    tally_.not_tracked += count(v1::PLACE_HOLD_RESULT_NOT_TRACKED);
    tally_.already_deleted += count(v1::PLACE_HOLD_RESULT_ALREADY_DELETED);
  }

  void AddKeptEnd(const v1::PlaceHoldRequest& request) {
    tally_.kept_ends.Add({{"container", request.container()},
                          {"hold_id", request.hold_id()},
                          {"until", request.has_until() ? TimeText(ToTime(request.until())) : ""}});
  }

  absl::Status Accept(const std::vector<std::string>& containers) {
    for (const std::string& container : std::set(containers.begin(), containers.end())) {
      if (tally_.missing.contains(container) || tally_.deficient.contains(container)) continue;
      const absl::Status status = session_.client().operations().AcceptHolds(container);
      if (absl::IsNotFound(status)) continue;  // missing, without holds in the file
      if (!status.ok()) {
        return absl::Status(
            status.code(),
            absl::StrCat(status.message(), "; the holds of the file are placed, but container ",
                         container, IsRefusal(status) ? " is" : " may be",
                         " not accepted; run it again"));
      }
      tally_.accepted.push_back(container);
    }
    return absl::OkStatus();
  }

  absl::Status WithDone(const absl::Status& status) const {
    const std::string refused =
        tally_.refused.count == 0
            ? ""
            : absl::StrCat(FormatCount(tally_.refused.count), " lines were refused, ");
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(), "; ", FormatCount(tally_.holds), " holds are placed, ",
                     refused, "no container is accepted; it can be run again"));
  }

  Session& session_;
  ProgressLine progress_;
  HoldEnds ends_;
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

std::string MoreText(const Listing& listing) {
  if (listing.count <= Listing::kMaxListed) return "";
  return absl::StrCat("and ", FormatCount(listing.count - Listing::kMaxListed), " more\n");
}

std::string HoldName(const nlohmann::ordered_json& entry) {
  return OneLine(absl::StrCat("hold ", entry["hold_id"].get<std::string>(), " of container ",
                              entry["container"].get<std::string>()));
}

std::string KeptEndsText(const Listing& kept) {
  std::string text;
  for (const auto& entry : kept.first) {
    const std::string until = entry["until"].get<std::string>();
    absl::StrAppend(&text, "kept the later end of ", HoldName(entry), ": ",
                    until.empty() ? "released" : until, "\n");
  }
  return absl::StrCat(text, MoreText(kept));
}

std::string RefusedText(const Listing& refused) {
  std::string text;
  for (const auto& entry : refused.first) {
    absl::StrAppend(&text, "refused line ", entry["line"].get<int64_t>(), ", ", HoldName(entry),
                    ": ", OneLine(entry["error"].get<std::string>()), "\n");
  }
  return absl::StrCat(text, MoreText(refused));
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
  return absl::StrCat(text, KeptEndsText(tally.kept_ends), RefusedText(tally.refused));
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
                       {"kept_ends", tally.kept_ends.count},
                       {"first_kept_ends", tally.kept_ends.first},
                       {"refused_lines", tally.refused.count},
                       {"first_refused_lines", tally.refused.first},
                       {"refused_containers", tally.deficient},
                       {"missing_containers", tally.missing},
                       {"accepted_containers", tally.accepted}});
}

// The exit code, with an error if something of the file was left out.
ExitCode Conclude(Session& session, const ApplyTally& tally) {
  std::vector<std::string> left_out;
  if (!tally.deficient.empty()) {
    left_out.push_back(
        absl::StrCat("lines of these containers were refused, so they are not "
                     "accepted: ",
                     absl::StrJoin(tally.deficient, ", ")));
  }
  if (!tally.missing.empty()) {
    left_out.push_back(absl::StrCat("left out the holds of containers that do not exist: ",
                                    absl::StrJoin(tally.missing, ", ")));
  }
  if (left_out.empty()) return ExitCode::kOk;
  return session.Fail(tally.deficient.empty() ? ExitCode::kNotFound : ExitCode::kRefused,
                      absl::StrJoin(left_out, "; "));
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
  return Conclude(session, tally);
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
      "Holds that stand are kept, and get the reason of the file, and its end if that is later.\n"
      "Holds whose end has passed are left out. Lines that are refused, and those of containers\n"
      "that do not exist, are left out; such a container is not accepted, and the exit code is 1,\n"
      "or 3 if nothing was refused. After another failure no container is accepted, and the\n"
      "command can be run again.\n");
}

}  // namespace ttl
