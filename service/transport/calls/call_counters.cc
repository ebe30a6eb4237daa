#include "service/transport/calls/call_counters.h"

namespace ttl {

AnswerCounts& AnswerCounts::operator+=(const AnswerCounts& other) {
  for (size_t i = 0; i < by_code.size(); ++i) by_code[i] += other.by_code[i];
  duration += other.duration;
  return *this;
}

AnswerCounts AnswerCounter::Get() const {
  AnswerCounts counts;
  for (size_t i = 0; i < by_code_.size(); ++i) counts.by_code[i] = by_code_[i].Get();
  counts.duration = duration_.Get();
  return counts;
}

MethodCounter& CallCounters::Add(const std::string& method, bool is_stream) {
  const MutexLock lock(mutex_);
  Named& named = counters_.emplace_back();
  named.method = method;
  named.is_stream = is_stream;
  return named.counter;
}

std::map<std::string, MethodCounts> CallCounters::Get() const {
  std::map<std::string, MethodCounts> by_method;
  const MutexLock lock(mutex_);
  for (const Named& named : counters_) {
    MethodCounts& counts = by_method[named.method];
    counts.is_stream = named.is_stream;
    counts.calls += named.counter.calls.Get();
    counts.messages += named.counter.messages.Get();
    counts.open_streams += named.counter.open_streams.Get();
  }
  return by_method;
}

}  // namespace ttl
