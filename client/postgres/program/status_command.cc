#include "client/postgres/program/status_command.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/tables/table_progress.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/program/followed_tables.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/check/fault_times.h"
#include "client/postgres/sql/check/slot_state.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_condemned.h"
#include "client/postgres/store/adapter_state.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "ttl/client.h"
#include "ttl/container_client.h"
#include "ttl/operator_client.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kAnswerDeadline = absl::Seconds(3);

// The state of the database, read with the functions that a running ttl-postgres uses.
struct Seen {
  std::vector<std::string> problems;
  FollowedTables followed;
  std::map<std::string, TableProgress> progress;  // by container
  std::map<std::string, std::string> condemned;   // by container, for humans
  FaultTimes faults;                              // that a running ttl-postgres has recorded
  std::optional<SlotState> slot;
  std::vector<SlotHolder> holders;
};

// Empty if no running ttl-postgres has recorded the fault yet.
std::string SinceText(const FaultTimes& faults, const std::string& fault) {
  const auto found = faults.find(fault);
  return found == faults.end() ? "" : absl::StrCat(" since ", TimeText(found->second));
}

// Groups that are being deleted in pieces.
absl::Status ReadCondemned(Connection& connection, const Config& config, Seen& seen) {
  for (const TableDefinition& table : seen.followed.tables) {
    if (!IsGroup(table) || table.own_schema.empty()) continue;
    TTL_ASSIGN_OR_RETURN(
        const auto groups,
        connection.Query(absl::StrCat("SELECT count(*), count(c.fault), min(c.fault) FROM ",
                                      CondemnedTable(config.schema), " AS c WHERE c.relation = ",
                                      table.group, "::oid AND c.system = ", SystemIdentifier())));
    if (groups.Number(0, 0) == 0) continue;
    seen.condemned[table.config.container] =
        absl::StrCat("; condemned groups, which are deleted in pieces: ", groups.Number(0, 0));
    if (groups.Number(0, 1) == 0) continue;
    seen.problems.push_back(absl::StrCat(
        "container ", table.config.container, ": ", groups.Number(0, 1),
        " of its condemned groups cannot be deleted now, of which one: ", groups.Text(0, 2)));
  }
  return absl::OkStatus();
}

absl::Status ReadTables(Connection& connection, const Config& config, absl::Time now, Seen& seen) {
  TTL_ASSIGN_OR_RETURN(CatalogReport report, CheckCatalog(connection, config));
  if (!report.is_server_fit) {
    seen.problems = std::move(report.problems);
    return absl::OkStatus();
  }
  TTL_RETURN_IF_ERROR(CheckTables(connection, now, report));
  absl::StatusOr<FollowedTables> followed = FindFollowedTables(connection, config, report);
  if (absl::IsFailedPrecondition(followed.status())) {
    seen.problems.emplace_back(followed.status().message());
    seen.followed.left_out = std::move(report.left_out);
    return absl::OkStatus();
  }
  TTL_RETURN_IF_ERROR(followed.status());
  seen.followed = *std::move(followed);
  seen.problems = std::move(report.archive_problems);
  PatientQuery query(connection, kAnswerDeadline, [] { return absl::OkStatus(); });
  TTL_ASSIGN_OR_RETURN(seen.progress, LoadProgress(query, config.schema));
  TTL_RETURN_IF_ERROR(ReadCondemned(connection, config, seen));
  TTL_ASSIGN_OR_RETURN(seen.faults, ReadFaults(connection, config.schema));
  if (!seen.followed.fault.empty()) {
    seen.problems.push_back(
        absl::StrCat(seen.followed.fault, SinceText(seen.faults, kInstallationFault)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Seen> ReadDatabase(const Config& config, absl::Time now) {
  TTL_ASSIGN_OR_RETURN(const auto connection,
                       Connection::Open(config.database, "ttl-postgres status"));
  TTL_RETURN_IF_ERROR(connection->Execute(Connection::kSystemNamesOnly).status());
  Seen seen;
  TTL_RETURN_IF_ERROR(ReadTables(*connection, config, now, seen));
  TTL_ASSIGN_OR_RETURN(seen.slot, ReadSlotState(*connection, config.slot));
  TTL_ASSIGN_OR_RETURN(seen.holders, ReadSlotHolders(*connection));
  return seen;
}

TtlClientOptions OptionsFor(const std::string& address) {
  TtlClientOptions options;
  options.address = address;
  options.admin_deadline = kAnswerDeadline;
  options.wait_for_sidecar = false;
  return options;
}

// Leaves out tables whose container does not exist, as a running ttl-postgres does.
void AskSidecar(const Config& config, Seen& seen) {
  TtlClient sidecar(OptionsFor(config.sidecar));
  std::vector<TableDefinition> followed;
  for (TableDefinition& table : seen.followed.tables) {
    const std::string& container = table.config.container;
    const absl::Status status = sidecar.containers().Get(container).status();
    if (absl::IsNotFound(status)) {
      seen.followed.left_out[container] =
          absl::StrCat("the sidecar at ", config.sidecar, " has no container of this name");
      continue;
    }
    if (!status.ok() && followed.empty()) {
      seen.problems.push_back(absl::StrCat("the sidecar does not answer for container ", container,
                                           ": ", status.message()));
    }
    followed.push_back(std::move(table));
  }
  seen.followed.tables = std::move(followed);
}

// Whether ttl-postgres is ready, and its state for humans.
std::pair<bool, std::string> AskAdapter(const Config& config, absl::Time now) {
  const absl::StatusOr<AdapterState> state = AskAdapterState(config.listen, now + kAnswerDeadline);
  if (absl::IsUnimplemented(state.status())) {
    return {false, absl::StrCat("of another version; its log says whether it is ready, at ",
                                config.listen)};
  }
  if (!state.ok()) return {false, absl::StrCat("does not answer at ", config.listen)};
  const bool is_ready = state->problem.empty();
  return {is_ready, absl::StrCat(is_ready ? "ready" : "not ready", " since ",
                                 TimeText(state->since), ", pid ", state->pid, ", at ",
                                 config.listen, is_ready ? "" : ": ", state->problem)};
}

std::string SlotText(const Config& config, const std::optional<SlotState>& slot) {
  const std::string name = absl::StrCat("slot ", config.slot, ": ");
  if (!slot.has_value()) return absl::StrCat(name, "does not exist; `ttl-postgres run` creates it");
  std::string text = slot->reader_pid.has_value() ? absl::StrCat("read by pid ", *slot->reader_pid)
                                                  : "not read by any session";
  if (slot->confirmed.empty()) {
    return absl::StrCat(name, text, "; being created, which waits for older transactions to end");
  }
  return absl::StrCat(name, text, "; confirmed ", slot->confirmed, ", lag ", slot->lag_bytes,
                      " bytes; ", slot->retained_bytes, " bytes of WAL retained, ",
                      slot->wal_status);
}

std::string TableText(const Seen& seen, const TableDefinition& table) {
  if (!seen.slot.has_value()) return "not captured: there is no replication slot";
  if (seen.slot->confirmed.empty()) return "not captured: the replication slot is being created";
  if (!seen.slot->reader_pid.has_value()) return "not captured: no session reads the slot";
  const auto found = seen.progress.find(table.config.container);
  const TableProgress progress = found == seen.progress.end() ? TableProgress() : found->second;
  const auto condemned = seen.condemned.find(table.config.container);
  return absl::StrCat("captured; first scan: ", progress.scanned,
                      IsGroup(table) ? " groups, " : " rows, ",
                      progress.scan_done ? "complete" : "not complete",
                      condemned == seen.condemned.end() ? "" : condemned->second);
}

std::string TableNames(const TableDefinition& item) {
  const auto name = [](std::string* out, const TableDefinition* table) {
    absl::StrAppend(out, table->config.schema, ".", table->config.table);
  };
  return absl::StrCat(IsGroup(item) ? "groups of " : "",
                      item.members.empty() ? "table " : "tables ",
                      absl::StrJoin(TablesOf(item), ", ", name));
}

void Print(const Config& config, const Seen& seen, const std::string& adapter, Output output) {
  output.out << "ttl-postgres: " << adapter << "\n" << SlotText(config, seen.slot) << "\n";
  for (const SlotHolder& holder : seen.holders) {
    output.out << "  held back by " << Describe(holder) << "\n";
  }
  for (const TableDefinition& table : seen.followed.tables) {
    output.out << "container " << table.config.container << ", " << TableNames(table) << ": "
               << TableText(seen, table) << "\n";
  }
  for (const auto& [container, why] : seen.followed.left_out) {
    output.out << "container " << container << ": left out"
               << SinceText(seen.faults, LeftOutFault(container)) << ": " << why << "\n";
  }
  for (const std::string& problem : seen.problems) output.err << "problem: " << problem << "\n";
}

bool IsCaptured(const Seen& seen) {
  return seen.problems.empty() && seen.followed.left_out.empty() && seen.slot.has_value() &&
         seen.slot->reader_pid.has_value() && !seen.slot->confirmed.empty();
}

ExitCode ShowState(const Config& config, Output output, const WallClock& clock) {
  absl::StatusOr<Seen> seen = ReadDatabase(config, clock());
  if (!seen.ok()) return Fail(output, seen.status());
  AskSidecar(config, *seen);
  const auto [is_ready, adapter] = AskAdapter(config, clock());
  Print(config, *seen, adapter, output);
  return is_ready && IsCaptured(*seen) ? ExitCode::kOk : ExitCode::kRefused;
}

}  // namespace

void AddStatusCommand(CLI::App& app, const WallClock& clock, Command& chosen) {
  app.add_subcommand("status",
                     "Show whether ttl-postgres is ready, the position of its replication slot and "
                     "what holds that back, and which tables are captured; exit code 1 if not all "
                     "are")
      ->callback([clock, &chosen] {
        chosen = [clock](const Config& config, Output output) {
          return ShowState(config, output, clock);
        };
      });
}

}  // namespace ttl::postgres
