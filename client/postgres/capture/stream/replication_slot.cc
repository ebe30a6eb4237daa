#include "client/postgres/capture/stream/replication_slot.h"

#include "absl/strings/str_cat.h"
#include "client/postgres/row/lsn.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// pg_current_wal_lsn() fails on a standby, where such slots do not exist either. A lost slot has no
// restart_lsn.
constexpr char kFind[] = R"(
SELECT plugin, coalesce(database = current_database(), false),
       coalesce(wal_status = 'lost', false) OR restart_lsn IS NULL, confirmed_flush_lsn,
       active_pid, coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint
FROM pg_catalog.pg_replication_slots WHERE slot_name = $1)";

constexpr char kCreate[] =
    "SELECT lsn FROM pg_catalog.pg_create_logical_replication_slot($1, 'pgoutput')";

constexpr char kDrop[] =
    "SELECT pg_catalog.pg_drop_replication_slot(slot_name) "
    "FROM pg_catalog.pg_replication_slots WHERE slot_name = $1";

}  // namespace

absl::StatusOr<std::optional<ReplicationSlot>> FindSlot(PatientQuery& database,
                                                        const std::string& name) {
  TTL_ASSIGN_OR_RETURN(const auto found, database.Query(kFind, {name}));
  if (found.rows() == 0) return std::nullopt;
  ReplicationSlot slot;
  slot.plugin = std::string(found.Text(0, 0));
  slot.is_of_this_database = found.Bool(0, 1);
  slot.is_lost = found.Bool(0, 2);
  slot.confirmed = ParseLsn(found.Text(0, 3)).value_or(0);
  if (found.Value(0, 4).has_value()) slot.active_pid = found.Number(0, 4);
  slot.retained_bytes = found.Number(0, 5);
  return slot;
}

absl::Status CheckSlot(const ReplicationSlot& slot, const std::string& name) {
  if (slot.is_of_this_database && slot.plugin == "pgoutput") return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "replication slot \"", name, "\" is ",
      slot.is_of_this_database ? absl::StrCat("for plugin \"", slot.plugin, "\"")
                               : std::string("of another database, or a physical one"),
      "; it must be a logical one of this database for plugin \"pgoutput\": choose another name "
      "for `slot`, or drop it"));
}

absl::StatusOr<uint64_t> CreateSlot(PatientQuery& database, const std::string& name) {
  TTL_ASSIGN_OR_RETURN(const auto created, database.Query(kCreate, {name}));
  return ParseLsn(created.Text(0, 0));
}

absl::Status DropSlot(PatientQuery& database, const std::string& name) {
  return database.Query(kDrop, {name}).status();
}

}  // namespace ttl::postgres
