// The quick start's show, run by deploy/quickstart.sh against a document store
// and a sidecar that have just been started with empty data directories.

#include <grpc/grpc.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "deploy/quickstart/demo_client.h"
#include "deploy/quickstart/report.h"
#include "deploy/quickstart/shows.h"

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Never paired: gRPC 1.51, shutting down with its last object, now and then waits
  // ten seconds for a poller.
  grpc_init();
  std::string store;
  std::string sidecar;
  std::string ttlctl;
  double policy_grace_seconds = 0;
  ttl::quickstart::PolicyChangeOptions policy_change;

  CLI::App app("Shows what ttl-sidecar does and checks all that it shows. Exit code 0: all true.");
  app.add_option("--store", store, "gRPC address of the document store")->required();
  app.add_option("--sidecar", sidecar, "gRPC address of the sidecar")->required();
  app.add_option("--ttlctl", ttlctl, "Path of the ttlctl program")->required();
  app.add_option("--documents", policy_change.documents, "Documents of part 3")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--max-deletes-per-second", policy_change.max_deletes_per_second,
                 "Limit that the sidecar was started with")
      ->required();
  app.add_option("--policy-grace-seconds", policy_grace_seconds,
                 "Grace that the sidecar was started with")
      ->required();
  CLI11_PARSE(app, argc, argv);

  policy_change.policy_grace = absl::Seconds(policy_grace_seconds);
  policy_change.run_ttlctl = [&](const std::string& arguments) {
    const std::string command =
        absl::StrCat("'", ttlctl, "' --server '", sidecar, "' ", arguments, " >/dev/null");
    return std::system(command.c_str()) == 0;
  };

  ttl::quickstart::DemoClient client(store, sidecar);
  ttl::quickstart::Report report(isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr);
  ttl::quickstart::ShowRules(client, report);
  ttl::quickstart::ShowLifetime(client, report);
  ttl::quickstart::ShowPolicyChange(client, report, policy_change);
  ttl::quickstart::ShowSummary(client, report);
  return report.wrong() == 0 ? 0 : 1;
}
