// document-store: the example store as a program.

#include <grpc/grpc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/examples/document_store/archiver.h"
#include "client/examples/document_store/document_engine.h"
#include "client/examples/document_store/document_store_server.h"
#include "client/examples/document_store/document_table.h"
#include "client/examples/document_store/primary_store.h"
#include "client/examples/document_store/reporter.h"
#include "client/examples/document_store/sidecar_client.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "service/log/log.h"
#include "service/process/daemon_signals.h"
#include "service/process/thread_check.h"
#include "spdlog/spdlog.h"
#include "ttl/client.h"
#include "ttl/local_evaluator.h"

namespace documentstore {
namespace {

constexpr absl::Duration kSidecarDeadline = absl::Seconds(3);
constexpr absl::Duration kRetryInterval = absl::Seconds(1);
constexpr absl::Duration kStopDeadline = absl::Seconds(10);
constexpr int kBadCommandLine = 2;  // exit code, as in ttl-sidecar

// Threads for log, signals, LevelDB, the reporter, usage, policies and the archive, and a few that
// serve calls; more of the latter are started only if possible.
constexpr int kThreads = 17;

struct Flags {
  std::string listen;
  std::string sidecar;
  std::string data_dir;
  std::string log_level = "info";
  std::string log_format = "logfmt";
  bool judge_locally = false;
  std::string archive;
  std::string archive_file;
};

void AddTo(CLI::App& app, Flags& flags) {
  app.add_option(
         "--listen", flags.listen,
         "Address that serves DocumentService and PrimaryStoreService: unix:PATH or HOST:PORT")
      ->type_name("ADDRESS")
      ->required();
  app.add_option("--sidecar", flags.sidecar, "gRPC address of ttl-sidecar")
      ->type_name("ADDRESS")
      ->required();
  app.add_option("--data-dir", flags.data_dir, "Directory of the documents; created if missing")
      ->type_name("DIR")
      ->required();
  app.add_option("--log-level", flags.log_level,
                 "Minimum level of log lines: debug, info, warn or error. debug adds a line for "
                 "each document that a client deletes")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  app.add_option("--log-format", flags.log_format,
                 "Format of log lines: logfmt or json, with the same fields")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"logfmt", "json"}))
      ->capture_default_str();
  app.add_flag("--judge-locally", flags.judge_locally,
               "Judge reads locally, by the policies and the clock that WatchContainers streams, "
               "and call the sidecar only in doubt: faster, but policy changes take effect a "
               "moment later");
  CLI::Option* archive =
      app.add_option("--archive", flags.archive,
                     "Container whose documents are copied to --archive-file when they expire, by "
                     "its subscription \"archive\", for which deletes should wait (--gate)")
          ->type_name("CONTAINER");
  app.add_option("--archive-file", flags.archive_file, "File of JSON lines to append to")
      ->type_name("FILE")
      ->needs(archive);
  archive->needs("--archive-file");
  app.set_version_flag("--version", "document-store " TTL_SIDECAR_VERSION);
}

// Returns whether to serve; if not, sets the exit code of the process.
bool ParseCommandLine(int argc, char** argv, Flags& flags, int& exit_code) {
  CLI::App app("A small document store that gets its time to live from ttl-sidecar.",
               "document-store");
  AddTo(app, flags);
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& help_or_version) {
    exit_code = app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.remaining();
    std::fprintf(
        stderr, "document-store: %s (see document-store --help)\n",
        unknown.empty() ? error.what() : ("\"" + unknown.front() + "\" is not an option").c_str());
    exit_code = kBadCommandLine;
  }
  return false;
}

std::unique_ptr<ttl::LocalEvaluator> NewEvaluator(const Flags& flags) {
  if (!flags.judge_locally) return nullptr;
  ttl::LocalEvaluatorOptions options;
  options.knows_expire_at = true;
  options.client.address = flags.sidecar;
  return std::make_unique<ttl::LocalEvaluator>(std::move(options));
}

// Null without --archive.
absl::StatusOr<std::unique_ptr<Archiver>> StartArchiver(const Flags& flags,
                                                        const DocumentTable& table,
                                                        ttl::TtlClient& client) {
  if (flags.archive.empty()) return std::unique_ptr<Archiver>();
  return Archiver::Start(
      table, client,
      {.container = flags.archive, .subscription = "archive", .path = flags.archive_file});
}

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  // Ignore http_proxy of the environment.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Reconnect within a second after the sidecar has restarted.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // The timeout of an attempt to connect.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  // Only the reporter retries a report whose outcome is unknown.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

int Fail(const absl::Status& status) {
  spdlog::error("not started: reason=\"{}\"",
                absl::CHexEscape(status.ToString(absl::StatusToStringMode::kWithNoExtraData)));
  return EXIT_FAILURE;
}

int Run(const Flags& flags, ttl::DaemonSignals& signals) {
  // The data directory first, because its lock keeps a second store from taking the socket of the
  // first.
  const auto table = DocumentTable::Open(flags.data_dir);
  if (!table.ok()) return Fail(table.status());
  SidecarClient sidecar(ConnectTo(flags.sidecar), kSidecarDeadline);
  Reporter reporter(**table, sidecar, kRetryInterval);
  const auto evaluator = NewEvaluator(flags);
  DocumentEngine engine(**table, sidecar, reporter, absl::Now, evaluator.get());
  PrimaryStore primary_store(**table, absl::Now);

  // Reports what the last run has written but not reported. Without a sidecar the store starts
  // anyway, since no call succeeds without it, and the reporter keeps retrying.
  if (const auto status = reporter.ReportOutbox(); !status.ok()) {
    spdlog::warn("outbox not reported: changes={} reason=\"{}\"", (*table)->CountUnreported(),
                 absl::CHexEscape(status.ToString(absl::StatusToStringMode::kWithNoExtraData)));
  }
  // Deletes use only the throughput that requests leave over, so the sidecar has to know the usage.
  ttl::TtlClientOptions client_options;
  client_options.address = flags.sidecar;
  ttl::TtlClient client(std::move(client_options));
  const auto archiver = StartArchiver(flags, **table, client);
  if (!archiver.ok()) return Fail(archiver.status());
  const auto server =
      DocumentStoreServer::Start(flags.listen, engine, primary_store,
                                 [&client](const std::string& container, double request_units) {
                                   client.AddUsage(container, request_units);
                                 });
  if (!server.ok()) return Fail(server.status());
  spdlog::info("ready: address=\"{}\"", absl::CHexEscape(flags.listen));
  while (signals.Next() == ttl::DaemonSignals::Request::kReload) {
    spdlog::info("SIGHUP ignored: reason=\"there is nothing to reload\"");
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace documentstore

int main(int argc, char** argv) {
  // Debian's abseil checks the lock order of every gRPC mutex and may abort on
  // a false alarm.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  documentstore::Flags flags;
  int exit_code;
  if (!documentstore::ParseCommandLine(argc, argv, flags, exit_code)) return exit_code;
  if (const absl::Status threads = ttl::CheckThreads(documentstore::kThreads); !threads.ok()) {
    std::fprintf(stderr, "document-store: %s\n", std::string(threads.message()).c_str());
    return EXIT_FAILURE;
  }
  const ttl::Log log(spdlog::level::from_str(flags.log_level));
  if (flags.log_format == "json") ttl::Log::SetFormat(ttl::LogFormat::kJson);
  ttl::DaemonSignals signals(documentstore::kStopDeadline);
  // Never shut down: gRPC 1.51 sometimes waits ten seconds for a poller when its last object goes.
  grpc_init();
  return documentstore::Run(flags, signals);
}
