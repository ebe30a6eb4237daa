#include "tests/bench/client_checks.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr char kContainer[] = "bench/client-checks";
constexpr int kKeys = 3000;

// Key i is visible, expired or untracked, in turn.
v1::Visibility Truth(int key) {
  constexpr v1::Visibility kTruths[] = {v1::VISIBILITY_VISIBLE, v1::VISIBILITY_EXPIRED,
                                        v1::VISIBILITY_UNTRACKED};
  return kTruths[key % 3];
}

TtlClientOptions ClientOptions(const std::string& address, bool share_checks) {
  TtlClientOptions options;
  options.address = address;
  options.share_checks = share_checks;
  options.check_deadline = absl::Seconds(10);
  return options;
}

std::vector<v1::Item> TrackedItems() {
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  std::vector<v1::Item> items;
  for (int key = 0; key < kKeys; ++key) {
    if (Truth(key) == v1::VISIBILITY_UNTRACKED) continue;
    v1::Item& item = items.emplace_back();
    item.set_id(absl::StrCat("item-", key));
    item.set_ts(now - 3600);
    item.set_ttl(Truth(key) == v1::VISIBILITY_EXPIRED ? 60 : -1);
  }
  return items;
}

// What one thread found.
struct Findings {
  std::vector<nanoseconds> latencies;
  absl::Status error;
};

// What the threads of a measurement share with the one that times it.
struct Phases {
  std::atomic<bool> counting = false;
  std::atomic<bool> stop = false;
  std::atomic<bool> has_found = false;  // a counted answer, or an error
};

// Asks until `stop`, and counts from `counting` on.
Findings Ask(TtlClient& client, int first_key, Phases& phases) {
  Findings findings;
  v1::VisibilityCheck check;
  for (int key = first_key; !phases.stop; key = (key + 7) % kKeys) {
    check.set_id(absl::StrCat("item-", key));
    const bool counts = phases.counting;
    const auto begin = steady_clock::now();
    const absl::StatusOr<VisibilityAnswer> answer = client.CheckItem(kContainer, check);
    if (counts) findings.latencies.push_back(steady_clock::now() - begin);
    if ((counts || !answer.ok()) && !phases.has_found) phases.has_found = true;
    if (!answer.ok()) {
      findings.error = answer.status();
      return findings;
    }
    if (answer->visibility != Truth(key)) {
      findings.error = absl::InternalError(
          absl::StrCat(check.id(), " was called ", v1::Visibility_Name(answer->visibility),
                       " where ", v1::Visibility_Name(Truth(key)), " is right"));
      return findings;
    }
  }
  return findings;
}

nanoseconds Percentile(std::vector<nanoseconds>& values, double share) {
  if (values.empty()) return nanoseconds::zero();
  const auto place =
      values.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

absl::StatusOr<ClientCheckRate> Measure(const ClientCheckOptions& options, bool share_checks) {
  TtlClient client(ClientOptions(options.address, share_checks));
  Phases phases;
  std::vector<Findings> findings(options.threads);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.emplace_back([&, i] { findings[i] = Ask(client, i * 41 % kKeys, phases); });
  }
  std::this_thread::sleep_for(options.warm_up);
  phases.counting = true;
  const auto begin = steady_clock::now();
  std::this_thread::sleep_for(options.window);
  // Without any there is no rate: on a machine that stalls, a short window may pass between two.
  while (!phases.has_found) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  phases.counting = false;
  const std::chrono::duration<double> seconds = steady_clock::now() - begin;
  phases.stop = true;
  for (std::thread& thread : threads) thread.join();

  std::vector<nanoseconds> latencies;
  for (const Findings& found : findings) {
    if (!found.error.ok()) return found.error;
    latencies.insert(latencies.end(), found.latencies.begin(), found.latencies.end());
  }
  ClientCheckRate rate;
  rate.checks_per_second = static_cast<double>(latencies.size()) / seconds.count();
  rate.p50 = Percentile(latencies, 0.5);
  rate.p99 = Percentile(latencies, 0.99);
  return rate;
}

}  // namespace

absl::Status PrepareClientChecks(const std::string& address) {
  TtlClient client(ClientOptions(address, /*share_checks=*/false));
  v1::Container container;
  container.set_id(kContainer);
  container.set_default_ttl(-1);
  const absl::Status created = client.containers().Create(container).status();
  if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
  return client.TrackItems(kContainer, TrackedItems()).status();
}

absl::StatusOr<std::vector<ClientCheckRound>> CompareClientChecks(
    const ClientCheckOptions& options) {
  std::vector<ClientCheckRound> rounds(options.rounds);
  for (ClientCheckRound& round : rounds) {
    absl::StatusOr<ClientCheckRate> alone = Measure(options, /*share_checks=*/false);
    if (!alone.ok()) return alone.status();
    absl::StatusOr<ClientCheckRate> shared = Measure(options, /*share_checks=*/true);
    if (!shared.ok()) return shared.status();
    round = {*alone, *shared};
  }
  return rounds;
}

}  // namespace ttl
