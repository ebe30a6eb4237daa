#include "client/postgres/store/served_store.h"

#include <chrono>
#include <utility>

namespace ttl::postgres {
namespace {

constexpr std::chrono::seconds kCallsWait(1);

}  // namespace

void ServedStore::Set(PrimaryStore& store) {
  const std::lock_guard lock(mutex_);
  store_ = &store;
}

void ServedStore::Withdraw() {
  std::unique_lock lock(mutex_);
  PrimaryStore* const store = std::exchange(store_, nullptr);
  const auto is_free = [this] { return calls_.empty(); };
  if (store == nullptr || released_.wait_for(lock, kCallsWait, is_free)) return;
  for (grpc::ServerContext* const call : calls_) call->TryCancel();
  lock.unlock();
  store->Close();
  lock.lock();
  released_.wait(lock, is_free);
}

PrimaryStore* ServedStore::Take(grpc::ServerContext& context) {
  const std::lock_guard lock(mutex_);
  if (store_ != nullptr) calls_.insert(&context);
  return store_;
}

void ServedStore::Release(grpc::ServerContext& context) {
  const std::lock_guard lock(mutex_);
  calls_.erase(&context);
  released_.notify_all();
}

}  // namespace ttl::postgres
