#include "client/ttlctl/commands/items/import_command.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/refusal.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/input/import_reader.h"
#include "client/ttlctl/input/input_file.h"
#include "client/ttlctl/text/format.h"
#include "nlohmann/json.hpp"

namespace ttl {
namespace {

constexpr int64_t kBatchesPerProgress = 10;

struct ImportArguments {
  std::string container;
  std::string file;
};

// The progress of an import.
struct ImportTally {
  int64_t batches = 0;
  int64_t items = 0;
  int64_t stale = 0;
  // All lines up to and including this one are imported.
  int64_t last_line = 0;
};

std::string DoneText(const ImportTally& tally) {
  if (tally.last_line == 0) return "nothing was imported";
  return absl::StrCat("lines 1 to ", tally.last_line, " are imported");
}

// "line 7: " if the message names an entry of the batch, as in "items[6].ts ...".
std::string LineOfEntry(absl::string_view message, const ImportBatch& batch) {
  constexpr absl::string_view kMark = "items[";
  const size_t start = message.find(kMark);
  if (start == absl::string_view::npos) return "";
  const absl::string_view rest = message.substr(start + kMark.size());
  size_t entry;
  if (!absl::SimpleAtoi(rest.substr(0, rest.find(']')), &entry)) return "";
  return entry < batch.lines.size() ? absl::StrCat("line ", batch.lines[entry], ": ") : "";
}

absl::Status WithFate(const absl::Status& status, const ImportBatch& batch,
                      const ImportTally& tally) {
  const std::string range = absl::StrCat("lines ", batch.lines.front(), " to ", batch.lines.back());
  return absl::Status(
      status.code(),
      absl::StrCat(LineOfEntry(status.message(), batch), status.message(), "; ", DoneText(tally),
                   ", ", range, IsRefusal(status) ? " are not" : " may be", ", nothing after"));
}

class Importer {
 public:
  // `total_bytes`: size of the input, for the progress; 0 if unknown.
  Importer(Session& session, std::string container, int64_t total_bytes)
      : session_(session), container_(std::move(container)), total_bytes_(total_bytes) {}

  absl::Status Run(std::istream& in) {
    absl::Status status = SendAll(in);
    if (progress_drawn_) session_.terminal().err << "\r\033[K" << std::flush;
    return status;
  }

  const ImportTally& tally() const { return tally_; }

 private:
  absl::Status SendAll(std::istream& in) {
    ImportReader reader(in);
    while (true) {
      const absl::StatusOr<ImportBatch> batch = reader.Next();
      if (!batch.ok()) {
        return absl::Status(batch.status().code(),
                            absl::StrCat(batch.status().message(), "; ", DoneText(tally_),
                                         tally_.last_line == 0 ? "" : ", nothing after"));
      }
      if (batch->items.empty()) return absl::OkStatus();
      absl::Status sent = Send(*batch);
      if (!sent.ok()) return sent;
      if (tally_.batches % kBatchesPerProgress == 0) DrawProgress(in);
    }
  }

  absl::Status Send(const ImportBatch& batch) {
    const auto results = session_.client().AdoptItems(container_, batch.items);
    if (!results.ok()) return WithFate(results.status(), batch, tally_);
    ++tally_.batches;
    tally_.items += static_cast<int64_t>(results->size());
    tally_.stale += std::count(results->begin(), results->end(), v1::TRACK_RESULT_STALE);
    tally_.last_line = batch.lines.back();
    return absl::OkStatus();
  }

  void DrawProgress(std::istream& in) {
    if (!session_.terminal().err_is_terminal) return;
    progress_drawn_ = true;
    std::ostream& err = session_.terminal().err;
    err << "\r\033[K" << FormatCount(tally_.items) << " items imported";
    if (total_bytes_ > 0 && !in.eof()) err << " (" << in.tellg() * 100 / total_bytes_ << " %)";
    err << std::flush;
  }

  Session& session_;
  const std::string container_;
  const int64_t total_bytes_;
  bool progress_drawn_ = false;
  ImportTally tally_;
};

absl::Status CheckAll(std::istream& in) {
  ImportReader reader(in);
  while (true) {
    const absl::StatusOr<ImportBatch> batch = reader.Next();
    if (!batch.ok()) {
      return absl::Status(batch.status().code(),
                          absl::StrCat(batch.status().message(), "; nothing was imported"));
    }
    if (batch->items.empty()) return absl::OkStatus();
  }
}

void PrintSummary(Session& session, const ImportTally& tally) {
  if (session.structured()) {
    session.PrintObject(
        {{"items", tally.items}, {"stale", tally.stale}, {"tracked", tally.items - tally.stale}});
    return;
  }
  session.terminal().out << FormatCount(tally.items)
                         << " items imported: " << FormatCount(tally.items - tally.stale)
                         << " tracked, " << FormatCount(tally.stale)
                         << " stale (a newer report is tracked)\n";
}

ExitCode ImportFrom(Session& session, const ImportArguments& arguments, std::istream& in,
                    int64_t total_bytes) {
  Importer importer(session, arguments.container, total_bytes);
  const absl::Status status = importer.Run(in);
  if (!status.ok()) {
    return session.Fail(absl::Status(
        status.code(), absl::StrCat(InputName(arguments.file), ": ", status.message())));
  }
  PrintSummary(session, importer.tally());
  return ExitCode::kOk;
}

ExitCode Import(Session& session, const ImportArguments& arguments) {
  if (arguments.file == "-") return ImportFrom(session, arguments, session.terminal().in, 0);

  auto file = OpenInputFile(arguments.file, "a file of JSON lines");
  if (!file.ok()) return session.Fail(ExitCode::kUsage, file.status().message());
  const absl::Status checked = CheckAll(*file);
  if (!checked.ok()) {
    return session.Fail(
        absl::Status(checked.code(), absl::StrCat(arguments.file, ": ", checked.message())));
  }
  file->clear();
  file->seekg(0);
  std::error_code error;
  return ImportFrom(session, arguments, *file,
                    static_cast<int64_t>(std::filesystem::file_size(arguments.file, error)));
}

}  // namespace

void AddImportCommand(CLI::App& app, Command& chosen) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = AddCommand(app, "import", "Report the items of a file of JSON lines",
                                 arguments, Import, chosen);
  AddContainerId(*command, "CONTAINER", [arguments = arguments.get()](std::string id) {
    arguments->container = std::move(id);
  });
  AddTextOption(*command, "FILE",
                "A regular file, whose lines are all validated before anything is sent; or - for "
                "standard input, which is sent while it is read",
                arguments->file)
      ->type_name(kFileType)
      ->required();
  command->footer(
      "One JSON object per line:\n"
      "  {\"partition_key\": \"p\", \"id\": \"a\", \"ts\": 1767225600, \"ttl\": 3600, \"etag\": "
      "\"e\", \"sequence\": 7, \"size_bytes\": 100}\n"
      "id and ts are required; id_base64, partition_key_base64 and etag_base64 take bytes that\n"
      "are not text. Without ttl, or with null, the container's default applies. 0, fractions,\n"
      "numbers as text, duplicate and unknown fields are refused with their line number. If the\n"
      "sidecar refuses an item, for example because its ts is a day ahead of the clock, the\n"
      "import ends there, and the error says which lines are imported.\n");
}

}  // namespace ttl
