#include "client/postgres/sql/check/slot_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kOld = absl::Minutes(1);

// pg_locks shows every transaction to every role; pg_stat_activity hides the times of other roles.
// A subtransaction holds its own lock.
constexpr char kHolders[] = R"(
WITH writers AS (
  SELECT DISTINCT ON (virtualtransaction) pid, transactionid FROM pg_catalog.pg_locks
  WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted
        AND pid IS DISTINCT FROM pg_catalog.pg_backend_pid()
  ORDER BY virtualtransaction, age(transactionid) DESC)
SELECT w.pid, p.gid, coalesce(a.application_name, ''), coalesce(a.usename, p.owner),
       coalesce(a.datname, p.database),
       floor(extract(epoch FROM coalesce(a.xact_start, p.prepared)))::bigint,
       w.transactionid, a.backend_xmin
FROM writers w
LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = w.pid
LEFT JOIN pg_catalog.pg_prepared_xacts p ON w.pid IS NULL AND p.transaction = w.transactionid
WHERE a.pid IS NOT NULL OR p.gid IS NOT NULL
ORDER BY age(w.transactionid) DESC LIMIT 3)";

constexpr char kSlot[] = R"(
SELECT active_pid, coalesce(confirmed_flush_lsn::text, ''),
       coalesce(pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), confirmed_flush_lsn),
                0)::bigint,
       coalesce(pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn),
                0)::bigint, coalesce(wal_status, '')
FROM pg_catalog.pg_replication_slots WHERE slot_name = $1)";

SlotHolder HolderOf(const QueryResult& rows, int row) {
  SlotHolder holder;
  holder.holder = rows.Value(row, 1).has_value()
                      ? absl::StrCat("prepared transaction \"", rows.Text(row, 1), "\"")
                      : absl::StrCat("pid ", rows.Text(row, 0));
  holder.application = std::string(rows.Text(row, 2));
  holder.user = std::string(rows.Text(row, 3));
  holder.database = std::string(rows.Text(row, 4));
  if (rows.Value(row, 5).has_value()) holder.since = absl::FromUnixSeconds(rows.Number(row, 5));
  holder.xid = std::string(rows.Text(row, 6));
  holder.xmin = std::string(rows.Text(row, 7));
  return holder;
}

}  // namespace

std::string Describe(const SlotHolder& holder) {
  return absl::StrCat(
      holder.holder, " (",
      holder.application.empty() ? "" : absl::StrCat("application \"", holder.application, "\", "),
      "user \"", holder.user, "\", database \"", holder.database, "\") since ",
      holder.since.has_value() ? TimeText(*holder.since)
                               : "a time that only a member of pg_read_all_stats may see",
      ", xid ", holder.xid, holder.xmin.empty() ? "" : absl::StrCat(", xmin ", holder.xmin));
}

absl::StatusOr<std::vector<SlotHolder>> ReadSlotHolders(Connection& connection) {
  TTL_ASSIGN_OR_RETURN(const QueryResult rows, connection.Query(kHolders));
  std::vector<SlotHolder> holders;
  for (int row = 0; row < rows.rows(); ++row) holders.push_back(HolderOf(rows, row));
  return holders;
}

void UseFirstSeen(absl::Time now, std::map<std::string, absl::Time>& first_seen,
                  std::vector<SlotHolder>& holders) {
  std::map<std::string, absl::Time> seen;
  for (SlotHolder& holder : holders) {
    if (holder.since.has_value()) continue;
    const auto known = first_seen.find(holder.xid);
    holder.since = known == first_seen.end() ? now : known->second;
    seen[holder.xid] = *holder.since;
  }
  first_seen = std::move(seen);
}

const SlotHolder* OldHolder(const std::vector<SlotHolder>& holders, absl::Time now) {
  for (const SlotHolder& holder : holders) {
    if (holder.since.has_value() && now - *holder.since > kOld) return &holder;
  }
  return nullptr;
}

absl::StatusOr<std::optional<SlotState>> ReadSlotState(Connection& connection,
                                                       const std::string& slot) {
  TTL_ASSIGN_OR_RETURN(const QueryResult found, connection.Query(kSlot, {slot}));
  if (found.rows() == 0) return std::nullopt;
  SlotState state;
  if (found.Value(0, 0).has_value()) state.reader_pid = found.Number(0, 0);
  state.confirmed = std::string(found.Text(0, 1));
  state.lag_bytes = found.Number(0, 2);
  state.retained_bytes = found.Number(0, 3);
  state.wal_status = std::string(found.Text(0, 4));
  return state;
}

}  // namespace ttl::postgres
