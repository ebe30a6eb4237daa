#include "client/postgres/sql/check/replication_check.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/sql_error.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr char kHere[] =
    "SELECT (SELECT system_identifier FROM pg_control_system()), current_database(), "
    "EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active)";

constexpr char kDirectAddress[] =
    "; behind a pooler, give the server's own address as replication: host=... dbname=...";

constexpr char kTooManyConnections[] = "53300";

absl::StatusOr<QueryResult> IdentifySystem(const Config& config, ConnectionBreaker* breaker) {
  TTL_ASSIGN_OR_RETURN(const auto reader,
                       Connection::Open(config.replication_address(), "ttl-postgres check",
                                        Connection::Kind::kReplication, breaker));
  return reader->Query("IDENTIFY_SYSTEM");
}

// Returns the problem of the connection; empty: none.
std::string Fault(const absl::StatusOr<QueryResult>& there, absl::string_view system,
                  absl::string_view database) {
  if (!there.ok()) return absl::StrCat("is refused: ", there.status().message(), kDirectAddress);
  if (there->Text(0, 0) != system) return "leads to another server than database does";
  if (there->Text(0, 3) == database) return "";
  return absl::StrCat("leads to the database ", there->Text(0, 3), ", and must lead to ", database);
}

}  // namespace

absl::Status CheckReplication(Connection& connection, const Config& config, bool is_other_address,
                              ConnectionBreaker* breaker, CatalogReport& report) {
  TTL_ASSIGN_OR_RETURN(const auto here, connection.Query(kHere, {config.slot}));
  const bool is_read = here.Bool(0, 2);
  if (is_read && !is_other_address) return absl::OkStatus();
  const absl::StatusOr<QueryResult> there = IdentifySystem(config, breaker);
  // The session that reads the slot may hold the last walsender, which we will take over.
  if (is_read && SqlState(there.status()) == kTooManyConnections) return absl::OkStatus();
  const std::string fault = Fault(there, here.Text(0, 0), here.Text(0, 1));
  if (fault.empty()) return absl::OkStatus();
  report.problems.push_back(absl::StrCat("a connection for replication, by ",
                                         config.replication.empty() ? "database" : "replication",
                                         " of the configuration, ", fault));
  report.is_server_fit = false;
  if (absl::IsUnavailable(there.status())) report.unreachable = report.problems.back();
  return absl::OkStatus();
}

}  // namespace ttl::postgres
