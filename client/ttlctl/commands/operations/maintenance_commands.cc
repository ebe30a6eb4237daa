#include "client/ttlctl/commands/operations/maintenance_commands.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/progress_line.h"
#include "client/ttlctl/text/progress_text.h"
#include "client/ttlctl/text/reconciliation_text.h"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(200);

struct ReconcileArguments {
  std::string container;
  bool all = false;
  bool dry_run = false;
  bool detach = false;
};

struct BackupArguments {
  std::string file;
};

bool IsUnderWay(const v1::Reconciliation& reconciliation) {
  return reconciliation.state() == v1::RECONCILIATION_STATE_RUNNING ||
         reconciliation.state() == v1::RECONCILIATION_STATE_WAITING;
}

ExitCode Show(Session& session, const v1::Reconciliation& reconciliation) {
  session.Print(reconciliation, ReconciliationText(reconciliation));
  return reconciliation.state() == v1::RECONCILIATION_STATE_FAILED ||
                 reconciliation.state() == v1::RECONCILIATION_STATE_CANCELLED
             ? ExitCode::kRefused
             : ExitCode::kOk;
}

// Follows the running reconciliation to its end.
ExitCode Follow(Session& session) {
  absl::StatusOr<v1::Reconciliation> reconciliation =
      session.client().operations().GetReconciliation();
  {
    ProgressLine line(session.terminal());
    while (reconciliation.ok() && IsUnderWay(*reconciliation)) {
      line.Draw(ReconciliationProgress(*reconciliation));
      absl::SleepFor(kPollInterval);
      reconciliation = session.client().operations().GetReconciliation();
    }
  }
  if (!reconciliation.ok()) return session.Fail(reconciliation.status());
  return Show(session, *reconciliation);
}

ExitCode Reconcile(Session& session, const ReconcileArguments& arguments) {
  if (arguments.all == !arguments.container.empty()) {
    return session.Fail(ExitCode::kUsage, "give either a container or --all");
  }
  const auto started =
      session.client().operations().StartReconciliation(arguments.container, arguments.dry_run);
  if (!started.ok()) return session.Fail(started.status());
  return arguments.detach ? Show(session, *started) : Follow(session);
}

// Starts a reconciliation of all containers, or follows one that is running.
ExitCode Rebuild(Session& session, const NoArguments&) {
  const auto present = session.client().operations().GetReconciliation();
  if (present.ok() && IsUnderWay(*present)) return Follow(session);
  const auto started = session.client().operations().StartReconciliation("", /*dry_run=*/false);
  if (!started.ok()) return session.Fail(started.status());
  return Follow(session);
}

ExitCode Cancel(Session& session, const NoArguments&) {
  const auto cancelled = session.client().operations().CancelReconciliation();
  if (!cancelled.ok()) return session.Fail(cancelled.status());
  session.Print(*cancelled, ReconciliationText(*cancelled));
  return ExitCode::kOk;
}

ExitCode Trust(Session& session, const NoArguments&) {
  const absl::Status status = session.client().operations().TrustData();
  if (!status.ok()) return session.Fail(status);
  session.Print(v1::TrustDataResponse(), "the tracked items count as complete\n");
  return ExitCode::kOk;
}

// Progress through the stored records, whose number is asked only where progress is shown.
class RecordProgress {
 public:
  explicit RecordProgress(Session& session) : line_(session.terminal()), start_(absl::Now()) {
    if (!session.terminal().err_is_terminal) return;
    const auto statuses = session.client().operations().ListExpiryStatuses();
    if (statuses.ok()) total_ = ExpectedRecords(*statuses);
  }

  void Draw(int64_t records, absl::string_view text) {
    const std::string share = ShareText(records, total_, absl::Now() - start_);
    line_.Draw(absl::StrCat(text, share.empty() ? "" : ", ", share));
  }

 private:
  ProgressLine line_;
  const absl::Time start_;
  int64_t total_ = 0;  // 0: unknown
};

std::string VerificationText(const v1::VerifyDataResponse& result) {
  std::string text;
  for (const std::string& problem : result.new_problems()) absl::StrAppend(&text, problem, "\n");
  return absl::StrCat(text, FormatCount(result.records()), " records read, ",
                      FormatCount(result.problems()), " problems\n");
}

ExitCode Verify(Session& session, const NoArguments&) {
  v1::VerifyDataResponse result;
  absl::Status status;
  {
    RecordProgress progress(session);
    status = session.client().operations().VerifyData([&](const v1::VerifyDataResponse& message) {
      google::protobuf::RepeatedPtrField<std::string> problems = result.new_problems();
      problems.MergeFrom(message.new_problems());
      result = message;
      *result.mutable_new_problems() = problems;
      progress.Draw(message.records(),
                    absl::StrCat(FormatCount(message.records()), " records read, ",
                                 FormatCount(message.problems()), " problems"));
    });
  }
  if (!status.ok()) return session.Fail(status);
  session.Print(result, VerificationText(result));
  return result.problems() == 0 ? ExitCode::kOk : ExitCode::kRefused;
}

constexpr char kPartialSuffix[] = ".partial";

// Syncs the directory of `file`. Returns an errno, or 0.
int SyncFolderOf(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return error;
}

// A file that appears atomically: written under a unique name, and renamed after it is synced.
class NewFile {
 public:
  explicit NewFile(std::string name)
      : name_(std::move(name)), partial_(absl::StrCat(name_, ".XXXXXX", kPartialSuffix)) {
    if (name_.empty() || access(name_.c_str(), F_OK) == 0) {
      error_ = name_.empty() ? ENOENT : EEXIST;
      return;
    }
    file_ = mkostemps(partial_.data(), sizeof(kPartialSuffix) - 1, O_CLOEXEC);
    if (file_ < 0) error_ = errno;
  }
  ~NewFile() {
    if (file_ < 0) return;
    close(file_);
    unlink(partial_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool Write(absl::string_view bytes) {
    while (error_ == 0 && !bytes.empty()) {
      const ssize_t written = write(file_, bytes.data(), bytes.size());
      if (written >= 0) {
        bytes.remove_prefix(static_cast<size_t>(written));
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    return error_ == 0;
  }

  bool Finish() {
    if (error_ == 0 && fsync(file_) != 0) error_ = errno;
    if (error_ == 0 && close(file_) != 0) error_ = errno;
    file_ = -1;
    if (error_ == 0 && rename(partial_.c_str(), name_.c_str()) != 0) error_ = errno;
    if (error_ != 0) unlink(partial_.c_str());
    if (error_ == 0) error_ = SyncFolderOf(name_);
    return error_ == 0;
  }

  // The first error; empty if there was none.
  std::string Error() const {
    if (error_ == 0) return "";
    return absl::StrCat("\"", name_, "\": ", std::generic_category().message(error_));
  }

 private:
  const std::string name_;
  std::string partial_;
  int file_ = -1;
  int error_ = 0;
};

ExitCode Backup(Session& session, const BackupArguments& arguments) {
  NewFile file(arguments.file);
  if (!file.Error().empty()) return session.Fail(ExitCode::kUsage, file.Error());
  int64_t bytes = 0;
  v1::BackUpDataResponse last;
  absl::Status status;
  {
    RecordProgress progress(session);
    status = session.client().operations().BackUpData([&](const v1::BackUpDataResponse& message) {
      bytes += static_cast<int64_t>(message.data().size());
      last.set_records(message.records());
      progress.Draw(message.records(), absl::StrCat(FormatCount(message.records()), " records, ",
                                                    FormatCount(bytes >> 20), " MiB"));
      return file.Write(message.data());
    });
  }
  if (!status.ok()) return session.Fail(status);
  if (!file.Error().empty() || !file.Finish()) {
    return session.Fail(ExitCode::kRefused, file.Error());
  }
  session.Print(last, absl::StrCat(FormatCount(last.records()), " records, ", FormatCount(bytes),
                                   " bytes written to ", arguments.file, "\n"));
  return ExitCode::kOk;
}

void AddReconcile(CLI::App& app, Command& chosen) {
  auto arguments = std::make_shared<ReconcileArguments>();
  CLI::App* command =
      AddCommand(app, "reconcile",
                 "Make the tracked items agree with the primary store; concurrent reports win",
                 arguments, Reconcile, chosen);
  AddTextOption(*command, "CONTAINER", "Id of the container", arguments->container)
      ->type_name(kContainerType);
  command->add_flag("--all", arguments->all, "All containers");
  command->add_flag("--dry-run", arguments->dry_run, "Compare only, change nothing");
  command->add_flag("--detach", arguments->detach,
                    "Do not wait for the end; follow it with ttlctl rebuild");
}

}  // namespace

void AddMaintenanceCommands(CLI::App& app, Command& chosen) {
  AddReconcile(app, chosen);
  auto none = std::make_shared<NoArguments>();
  AddCommand(app, "rebuild",
             "Reconcile all containers, or follow a running rebuild or reconciliation", none,
             Rebuild, chosen);
  AddCommand(app, "verify",
             "Read and check all stored data at low priority; exits with 1 if there are problems",
             none, Verify, chosen);
  auto backup_arguments = std::make_shared<BackupArguments>();
  CLI::App* backup =
      AddCommand(app, "backup", "Write all stored data to a new file, for ttl-sidecar --restore",
                 backup_arguments, Backup, chosen);
  AddTextOption(*backup, "FILE", "File to write; must not exist", backup_arguments->file)
      ->type_name(kFileType)
      ->required();

  CLI::App* data = app.add_subcommand("data", "Trust in the tracked items as a whole");
  data->require_subcommand(1);
  AddCommand(*data, "trust",
             "Declare that the tracked items are complete although they were restored, repaired or "
             "not yet rebuilt",
             none, Trust, chosen);
  AddCommand(*data, "cancel", "Cancel the running reconciliation", none, Cancel, chosen);
}

}  // namespace ttl
