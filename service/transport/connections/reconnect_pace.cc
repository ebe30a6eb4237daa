#include "service/transport/connections/reconnect_pace.h"

namespace ttl {

void ReconnectPace::CutOff(const std::string& host, int64_t second) {
  if (offenders_.size() >= kMaxHosts) Forget(second);
  if (offenders_.size() >= kMaxHosts && !offenders_.contains(host)) return;
  offenders_[host].cut_off_at = second;
}

bool ReconnectPace::Admits(const std::string& host, int64_t second) {
  const auto found = offenders_.find(host);
  if (found == offenders_.end()) return true;
  Offender& offender = found->second;
  if (second - offender.cut_off_at > kSeconds) {
    offenders_.erase(found);
    return true;
  }
  if (offender.second != second) offender.connections = 0;
  offender.second = second;
  return ++offender.connections <= kConnectionsPerSecond;
}

void ReconnectPace::Forget(int64_t second) {
  absl::erase_if(offenders_, [second](const auto& entry) {
    return second - entry.second.cut_off_at > kSeconds;
  });
}

}  // namespace ttl
