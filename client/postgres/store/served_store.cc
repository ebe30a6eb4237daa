#include "client/postgres/store/served_store.h"

#include <chrono>
#include <utility>

#include "service/base/mutex.h"

namespace ttl::postgres {
namespace {

constexpr std::chrono::seconds kCallsWait(1);

}  // namespace

void ServedStore::Set(PrimaryStore& store) {
  const MutexLock lock(mutex_);
  store_ = &store;
}

void ServedStore::Withdraw() {
  PrimaryStore* const store = CancelCalls();
  if (store == nullptr) return;
  store->Close();
  const MutexLock lock(mutex_);
  while (!calls_.empty()) released_.Wait(mutex_);
}

PrimaryStore* ServedStore::CancelCalls() {
  std::chrono::nanoseconds left = kCallsWait;
  const auto deadline = std::chrono::steady_clock::now() + left;
  const MutexLock lock(mutex_);
  PrimaryStore* const store = std::exchange(store_, nullptr);
  if (store == nullptr) return nullptr;
  while (!calls_.empty() && left > left.zero()) {
    released_.WaitFor(mutex_, left);
    left = deadline - std::chrono::steady_clock::now();
  }
  for (grpc::ServerContext* const call : calls_) call->TryCancel();
  return calls_.empty() ? nullptr : store;
}

PrimaryStore* ServedStore::Take(grpc::ServerContext& context) {
  const MutexLock lock(mutex_);
  if (store_ != nullptr) calls_.insert(&context);
  return store_;
}

void ServedStore::Release(grpc::ServerContext& context) {
  const MutexLock lock(mutex_);
  calls_.erase(&context);
  released_.NotifyAll();
}

}  // namespace ttl::postgres
