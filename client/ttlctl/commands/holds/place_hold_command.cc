#include "client/ttlctl/commands/holds/place_hold_command.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/holds/hold_arguments.h"
#include "client/ttlctl/commands/refusal.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/input/held_key_reader.h"
#include "client/ttlctl/input/held_key_text.h"
#include "client/ttlctl/input/input_file.h"
#include "client/ttlctl/input/time_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/holds/placed_hold_text.h"
#include "client/ttlctl/text/item_text.h"
#include "client/ttlctl/text/progress_line.h"
#include "ttl/operator_client.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

// Keys that are listed because they were not tracked, or already deleted.
constexpr int kMaxListedKeys = 20;

struct PlaceHoldArguments : HoldArguments {
  std::string reason;
  std::optional<absl::Time> until;
  std::optional<int64_t> for_seconds;
  std::vector<v1::HeldKey> keys;
  std::string keys_file;
  std::optional<std::string> partition_key;
  bool all = false;
};

// Returns the keys of a hold batch by batch, and an empty batch at the end.
using NextKeys = std::function<absl::StatusOr<v1::HeldKeys>()>;

int ScopesOf(const PlaceHoldArguments& arguments) {
  return static_cast<int>(!arguments.keys.empty()) +
         static_cast<int>(!arguments.keys_file.empty()) +
         static_cast<int>(arguments.partition_key.has_value()) + static_cast<int>(arguments.all);
}

// The request without its scope.
absl::StatusOr<v1::PlaceHoldRequest> HoldRequestOf(Session& session,
                                                   const PlaceHoldArguments& arguments) {
  v1::PlaceHoldRequest request;
  request.set_container(arguments.container);
  request.set_hold_id(arguments.hold_id);
  request.set_reason(arguments.reason);
  if (arguments.until.has_value()) *request.mutable_until() = ToTimestamp(*arguments.until);
  if (!arguments.for_seconds.has_value()) return request;
  // By the sidecar's clock, not by that of this machine.
  const auto status = session.client().operations().GetExpiryStatus();
  if (!status.ok()) return status.status();
  *request.mutable_until() =
      ToTimestamp(ToTime(status->sidecar().clock().now()) + absl::Seconds(*arguments.for_seconds));
  return request;
}

// What became of the keys of a hold.
class KeyResults {
 public:
  void Add(const v1::HeldKey& key, v1::PlaceHoldResult result) {
    ++keys_;
    if (result != v1::PLACE_HOLD_RESULT_NOT_TRACKED &&
        result != v1::PLACE_HOLD_RESULT_ALREADY_DELETED) {
      ++held_;
      return;
    }
    if (result == v1::PLACE_HOLD_RESULT_ALREADY_DELETED) ++already_deleted_;
    if (keys_ - held_ > kMaxListedKeys) return;
    listed_.AddRow({ItemKeyText(key.partition_key(), key.id()), PlaceHoldResultText(result)});
  }

  int64_t keys() const { return keys_; }

  std::string Text() {
    const int64_t others = keys_ - held_;
    std::string text =
        absl::StrCat(FormatCount(keys_), keys_ == 1 ? " key: " : " keys: ", FormatCount(held_),
                     " held, ", FormatCount(others - already_deleted_), " not tracked, ",
                     FormatCount(already_deleted_), " already deleted\n");
    if (others == 0) return text;
    absl::StrAppend(&text, listed_.Render());
    if (others > kMaxListedKeys) {
      absl::StrAppend(&text, "and ", FormatCount(others - kMaxListedKeys),
                      " more; -o json shows all results\n");
    }
    return text;
  }

 private:
  int64_t keys_ = 0;
  int64_t held_ = 0;
  int64_t already_deleted_ = 0;
  Table listed_ = Table({"ITEM", "RESULT"});
};

// Places a hold on keys, in as many calls as they need.
class KeyPlacement {
 public:
  KeyPlacement(Session& session, v1::PlaceHoldRequest request)
      : session_(session), request_(std::move(request)) {}

  absl::Status PlaceAll(const NextKeys& next) {
    ProgressLine progress(session_.terminal());
    while (true) {
      absl::StatusOr<v1::HeldKeys> keys = next();
      if (!keys.ok()) return WithDone(keys.status(), "");
      if (keys->keys().empty()) return absl::OkStatus();
      *request_.mutable_keys() = *std::move(keys);
      if (absl::Status placed = Place(); !placed.ok()) return placed;
      progress.Draw(absl::StrCat(FormatCount(results_.keys()), " keys held"));
    }
  }

  int64_t keys() const { return results_.keys(); }
  std::string Text() { return absl::StrCat(PlacedHoldText(hold_), "\n", results_.Text()); }

 private:
  absl::Status Place() {
    const int size = request_.keys().keys_size();
    const auto response = session_.client().operations().PlaceHold(request_);
    if (!response.ok()) {
      return WithDone(response.status(),
                      absl::StrCat(", keys ", results_.keys() + 1, " to ", results_.keys() + size,
                                   IsRefusal(response.status()) ? " are not" : " may be",
                                   ", nothing was sent for the others"));
    }
    if (response->results_size() != size) {
      return absl::InternalError(absl::StrCat("the server gave ", response->results_size(),
                                              " results for ", size, " keys"));
    }
    hold_ = response->hold();
    for (int i = 0; i < size; ++i) results_.Add(request_.keys().keys(i), response->results(i));
    if (session_.structured()) session_.Print(*response, "");
    return absl::OkStatus();
  }

  absl::Status WithDone(const absl::Status& status, absl::string_view rest) const {
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(), "; ", FormatCount(results_.keys()), " keys are held", rest));
  }

  Session& session_;
  v1::PlaceHoldRequest request_;
  v1::Hold hold_;
  KeyResults results_;
};

ExitCode PlaceOnKeys(Session& session, v1::PlaceHoldRequest request, const NextKeys& next) {
  KeyPlacement placement(session, std::move(request));
  const absl::Status placed = placement.PlaceAll(next);
  if (!placed.ok()) return session.Fail(placed);
  if (placement.keys() == 0) return session.Fail(ExitCode::kRefused, "no keys; nothing is held");
  if (!session.structured()) session.PrintText(placement.Text());
  return ExitCode::kOk;
}

ExitCode PlaceOnGivenKeys(Session& session, v1::PlaceHoldRequest request,
                          const std::vector<v1::HeldKey>& keys) {
  size_t sent = 0;
  return PlaceOnKeys(session, std::move(request), [&]() -> absl::StatusOr<v1::HeldKeys> {
    v1::HeldKeys batch;
    for (; sent < keys.size() && batch.keys_size() < HeldKeyReader::kMaxKeys; ++sent) {
      *batch.add_keys() = keys[sent];
    }
    return batch;
  });
}

absl::Status CheckAllKeys(std::istream& in) {
  HeldKeyReader reader(in);
  while (true) {
    const absl::StatusOr<v1::HeldKeys> keys = reader.Next();
    if (!keys.ok() || keys->keys().empty()) return keys.status();
  }
}

ExitCode PlaceOnKeysOf(Session& session, v1::PlaceHoldRequest request, const std::string& path,
                       std::istream& in) {
  HeldKeyReader reader(in);
  return PlaceOnKeys(session, std::move(request), [&]() -> absl::StatusOr<v1::HeldKeys> {
    absl::StatusOr<v1::HeldKeys> keys = reader.Next();
    if (keys.ok()) return keys;
    return absl::Status(keys.status().code(),
                        absl::StrCat(InputName(path), ": ", keys.status().message()));
  });
}

ExitCode PlaceOnKeysFile(Session& session, v1::PlaceHoldRequest request, const std::string& path) {
  if (path == "-") {
    return PlaceOnKeysOf(session, std::move(request), path, session.terminal().in);
  }
  auto file = OpenInputFile(path, "a file with a key on each line");
  if (!file.ok()) return session.Fail(ExitCode::kUsage, file.status().message());
  if (const absl::Status checked = CheckAllKeys(*file); !checked.ok()) {
    return session.Fail(absl::Status(
        checked.code(), absl::StrCat(path, ": ", checked.message(), "; nothing is held")));
  }
  file->clear();
  file->seekg(0);
  return PlaceOnKeysOf(session, std::move(request), path, *file);
}

ExitCode PlaceHold(Session& session, const PlaceHoldArguments& arguments) {
  if (ScopesOf(arguments) != 1) {
    return session.Fail(ExitCode::kUsage,
                        "give one of --key, --keys-file, --partition-key and --all");
  }
  absl::StatusOr<v1::PlaceHoldRequest> request = HoldRequestOf(session, arguments);
  if (!request.ok()) return session.Fail(request.status());
  if (!arguments.keys.empty()) {
    return PlaceOnGivenKeys(session, *std::move(request), arguments.keys);
  }
  if (!arguments.keys_file.empty()) {
    return PlaceOnKeysFile(session, *std::move(request), arguments.keys_file);
  }
  if (arguments.all) request->set_all_items(true);
  if (arguments.partition_key.has_value()) request->set_partition_key(*arguments.partition_key);
  const auto response = session.client().operations().PlaceHold(*request);
  if (!response.ok()) return session.Fail(response.status());
  session.Print(*response, PlacedHoldText(response->hold()));
  return ExitCode::kOk;
}

void AddEnd(CLI::App& command, PlaceHoldArguments& arguments) {
  CLI::Option* until = AddParsedOption(
      command, "--until",
      "When the hold ends by itself, in Unix seconds or as 2027-06-30T12:00:00Z; default: when it "
      "is released",
      "TIME", [&arguments](const std::string& text) {
        const absl::StatusOr<absl::Time> time = TimeFromText(text);
        if (!time.ok()) {
          throw CLI::ValidationError("--until", std::string(time.status().message()));
        }
        arguments.until = *time;
      });
  AddDurationOption(command, "--for", "The same as the time from now, such as 30d",
                    [&arguments](int64_t seconds) { arguments.for_seconds = seconds; })
      ->excludes(until);
}

void AddScope(CLI::App& command, PlaceHoldArguments& arguments) {
  command
      .add_option_function<std::vector<std::string>>(
          "--key",
          [&arguments](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              absl::StatusOr<v1::HeldKey> key = HeldKeyFromText(FromCli11(text));
              if (!key.ok()) {
                throw CLI::ValidationError("--key", std::string(key.status().message()));
              }
              arguments.keys.push_back(*std::move(key));
            }
          },
          "Items to hold, tracked or not: PARTITION/ID, or ID for an item without a partition key")
      ->type_name("KEY");
  AddTextOption(command, "--keys-file",
                "File with one such key on each line, any number; or -, standard input",
                arguments.keys_file)
      ->type_name(kFileType);
  AddKeyOption(command, "--partition-key",
               "Hold all items of this partition key, which may be empty",
               [&arguments](std::string key) { arguments.partition_key = std::move(key); });
  command.add_flag("--all", arguments.all, "Hold all items of the container");
}

}  // namespace

void AddPlaceHoldCommand(CLI::App& holds, Command& chosen) {
  auto arguments = std::make_shared<PlaceHoldArguments>();
  CLI::App* command = AddCommand(
      holds, "place", "Hold items: expired ones are not deleted until every hold on them has ended",
      arguments, PlaceHold, chosen);
  AddHoldName(*command, *arguments);
  AddTextOption(*command, "--reason", "Why the items are held", arguments->reason)->required();
  AddEnd(*command, *arguments);
  AddScope(*command, *arguments);
  command->footer(
      "  ttlctl holds place orders case-17 --reason 'case 17' --key customer-4/order-12\n\n"
      "Keys are added to a hold by its name; reason and end replace those that it had. A slash\n"
      "inside a partition key or an id is written \\x2f. The command returns when no delete can\n"
      "remove the items any more: it waits for those that are in flight. If it fails, the hold\n"
      "may have been placed: run it again.\n");
}

}  // namespace ttl
