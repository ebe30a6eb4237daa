#ifndef TTL_DEPLOY_QUICKSTART_SHOWS_H_
#define TTL_DEPLOY_QUICKSTART_SHOWS_H_

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "deploy/quickstart/demo_client.h"
#include "deploy/quickstart/report.h"

namespace ttl::quickstart {

// The parts of the quick start, in order. Each creates containers of its own,
// does something, prints what came of it and checks all that it prints.

// Nine documents in three containers: every combination of a document's ttl and
// its container's default_ttl, asked until the last has expired.
void ShowRules(DemoClient& client, Report& report);

// One document: written, touched, gone from Get and Query at its second, and
// deleted from the store a little later.
void ShowLifetime(DemoClient& client, Report& report);

// How ShowPolicyChange is set up.
struct PolicyChangeOptions {
  int documents = 20000;
  // As the sidecar was started with.
  double max_deletes_per_second = 0;
  absl::Duration policy_grace;
  // Runs ttlctl with the given arguments; true if it succeeded.
  std::function<bool(const std::string&)> run_ttlctl;
};

// default_ttl set, removed and set again over many documents at once, and their
// deletion at a limited rate after the grace.
void ShowPolicyChange(DemoClient& client, Report& report, const PolicyChangeOptions& options);

// What is visible, what is stored and what was deleted, container by container.
void ShowSummary(DemoClient& client, Report& report);

}  // namespace ttl::quickstart

#endif  // TTL_DEPLOY_QUICKSTART_SHOWS_H_
