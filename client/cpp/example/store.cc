// A store in memory: writes a session that lives for two seconds, reports it, and waits until the
// sidecar has it deleted.
//
//   ttl-store-example SIDECAR STORE   for example unix:/run/ttl-sidecar/sidecar.sock and
//                                     unix:/run/store/store.sock, the sidecar's option store
//
// Prints "deleted" and returns 0, or prints the status of the call that failed and returns 1.
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "ttl/client.h"
#include "ttl/container_client.h"
#include "ttl/store_server.h"

namespace {

constexpr char kContainer[] = "example/sessions";

class MemoryStore final : public ttl::PrimaryStore {
 public:
  std::string store_id() const override { return "example-store"; }

  absl::Status WithLock(absl::string_view /*container*/, absl::Span<const ttl::StoredKey> /*keys*/,
                        absl::FunctionRef<void()> work) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    work();
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<ttl::v1::Item>> Read(absl::string_view /*container*/,
                                                    const ttl::StoredKey& key) override {
    const auto found = items_.find(key);
    if (found == items_.end()) return std::optional<ttl::v1::Item>();
    return std::optional<ttl::v1::Item>(found->second);
  }

  absl::Status Delete(absl::string_view /*container*/,
                      absl::Span<const ttl::StoredKey> keys) override {
    for (const ttl::StoredKey& key : keys) items_.erase(key);
    deleted_.notify_all();
    return absl::OkStatus();
  }

  void Write(const ttl::v1::Item& item) {
    const std::lock_guard<std::mutex> lock(mutex_);
    items_[{item.partition_key(), item.id()}] = item;
  }

  // Returns whether the store became empty within `longest`.
  bool WaitUntilEmpty(std::chrono::seconds longest) {
    std::unique_lock<std::mutex> lock(mutex_);
    return deleted_.wait_for(lock, longest, [this] { return items_.empty(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable deleted_;
  std::map<ttl::StoredKey, ttl::v1::Item> items_;  // guarded by mutex_
};

absl::Status CreateContainer(ttl::TtlClient& client) {
  ttl::v1::Container container;
  container.set_id(kContainer);
  container.set_default_ttl(2);
  const absl::Status created = client.containers().Create(container).status();
  return absl::IsAlreadyExists(created) ? absl::OkStatus() : created;
}

// Writes and reports a session.
absl::Status WriteSession(MemoryStore& store, ttl::TtlClient& client) {
  ttl::v1::Item session;
  session.set_id("session-1");
  session.set_ts(absl::ToUnixSeconds(store.Now()));
  session.set_sequence(1);
  store.Write(session);
  return client.TrackItem(kContainer, session).status();
}

absl::Status Run(const std::string& sidecar_address, const std::string& store_address) {
  MemoryStore store;
  const auto server = ttl::StoreServer::Start(store, store_address);
  if (!server.ok()) return server.status();
  ttl::TtlClientOptions options;
  options.address = sidecar_address;
  ttl::TtlClient client(options);
  if (absl::Status created = CreateContainer(client); !created.ok()) return created;
  if (absl::Status written = WriteSession(store, client); !written.ok()) return written;
  if (!store.WaitUntilEmpty(std::chrono::minutes(1))) {
    return absl::DeadlineExceededError("the session was not deleted within a minute");
  }
  std::cout << "deleted\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " SIDECAR STORE\n";
    return 2;
  }
  const absl::Status status = Run(argv[1], argv[2]);
  // Without the details, which are for programs; see ttl/error_details.h.
  if (!status.ok())
    std::cerr << status.ToString(absl::StatusToStringMode::kWithNoExtraData) << "\n";
  return status.ok() ? 0 : 1;
}
