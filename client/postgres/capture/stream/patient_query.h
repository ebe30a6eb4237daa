#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_PATIENT_QUERY_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_PATIENT_QUERY_H_

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/connect/query_result.h"

namespace ttl::postgres {

// Runs statements on a connection, and calls a function periodically while one runs. Not
// thread-safe.
class PatientQuery {
 public:
  // `meanwhile` is called every `interval`. If it fails, the statement is cancelled and returns
  // that error, within about a second even if the server hangs; the connection is then unusable.
  PatientQuery(Connection& connection, absl::Duration interval,
               std::function<absl::Status()> meanwhile);

  // Errors are those of Connection::Query().
  absl::StatusOr<QueryResult> Query(const std::string& statement,
                                    absl::Span<const Connection::Parameter> parameters = {});

  // Replaces the function that is called meanwhile.
  void set_meanwhile(std::function<absl::Status()> meanwhile) { meanwhile_ = std::move(meanwhile); }

  Connection& connection() { return connection_; }

 private:
  absl::Status AwaitAnswer();

  Connection& connection_;
  const std::chrono::nanoseconds interval_;
  std::function<absl::Status()> meanwhile_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_PATIENT_QUERY_H_
