#include "client/postgres/sql/check/replication_check.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace ttl::postgres {
namespace {

constexpr char kHere[] =
    "SELECT (SELECT system_identifier FROM pg_control_system()), current_database(), "
    "EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active)";

constexpr char kDirectAddress[] =
    "; behind a pooler, give the server's own address as replication: host=... dbname=...";

// What is wrong with it; empty: nothing.
std::string Fault(const Config& config, absl::string_view system, absl::string_view database) {
  const auto reader = Connection::Open(config.replication_address(), "ttl-postgres check",
                                       Connection::Kind::kReplication);
  if (!reader.ok()) return absl::StrCat("is refused: ", reader.status().message(), kDirectAddress);
  const auto there = (*reader)->Query("IDENTIFY_SYSTEM");
  if (!there.ok()) return absl::StrCat("is refused: ", there.status().message(), kDirectAddress);
  if (there->Text(0, 0) != system) return "leads to another server than database does";
  if (there->Text(0, 3) == database) return "";
  return absl::StrCat("leads to the database ", there->Text(0, 3), ", and must lead to ", database);
}

}  // namespace

absl::Status CheckReplication(Connection& connection, const Config& config, CatalogReport& report) {
  const auto here = connection.Query(kHere, {config.slot});
  if (!here.ok()) return here.status();
  if (here->Bool(0, 2)) return absl::OkStatus();
  const std::string fault = Fault(config, here->Text(0, 0), here->Text(0, 1));
  if (fault.empty()) return absl::OkStatus();
  report.problems.push_back(absl::StrCat("a connection for replication, by ",
                                         config.replication.empty() ? "database" : "replication",
                                         " of the configuration, ", fault));
  report.is_server_fit = false;
  return absl::OkStatus();
}

}  // namespace ttl::postgres
