#ifndef TTL_TESTS_TESTING_STATUS_DETAILS_H_
#define TTL_TESTS_TESTING_STATUS_DETAILS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace ttl {

// What a program that does not know our protos reads in grpc-status-details-bin.
struct StatusDetails {
  int code = 0;
  std::string message;
  std::string reason;
  std::string domain;
  std::map<std::string, std::string> metadata;
  std::vector<std::pair<std::string, std::string>> violations;  // field, description
  std::optional<absl::Duration> retry_delay;
};

// Decodes the bytes by a declaration of google.rpc of its own. Absent if they cannot be parsed, or
// have a detail of another type, or two of a type.
std::optional<StatusDetails> ReadStatusDetails(const std::string& bytes);

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_STATUS_DETAILS_H_
