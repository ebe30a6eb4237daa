#ifndef TTL_CLIENT_POSTGRES_SQL_HELD_TIMES_H_
#define TTL_CLIENT_POSTGRES_SQL_HELD_TIMES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

// A rewrite by ALTER TABLE makes its own transaction the writer of every row, so that the commit
// time of each row becomes that of the rewrite. Two event triggers therefore hold the former times
// in tables of our own schema:
//   by_commit_time  tables whose `_ts` is the commit time.
//   rewritten       ctid and time of each row while its table is rewritten.
//   rewrites        files created by rewrites, each with the transactions that wrote its rows: one
//                   by ALTER TABLE, several by an operation that swaps files.
//   held_times      time of each row that is unchanged since a rewrite, by file and ctid, with the
//                   transaction that wrote it.
//   known_files     files to which the times in the sidecar belong, and since when a partition has
//                   been attached.
// If the triggers are missing or could not hold the times, and after an operation that moves rows,
// the file differs from the one in known_files. ttl-postgres then holds the times that the sidecar
// knows, and until then deletes no row that is unchanged since the rewrite. A held time belongs to
// one version of a row: a write creates another version with another ctid, and an operation that
// moves versions creates another file, for which no times are held. So a held time never applies to
// a later write of the application, not even in the transaction of the rewrite.
namespace ttl::postgres {

// Returns the SQL that creates these tables and functions if they do not exist.
std::string HeldTimesSql(absl::string_view schema);

// These tables, and these functions as arguments of to_regprocedure(); all are qualified.
std::vector<std::string> HeldTimesTables(absl::string_view schema);
std::vector<std::string> HeldTimesFunctions(absl::string_view schema);

// Records the tables whose `_ts` is the commit time and, if there are any, creates the event
// triggers. The SQL raises a warning if the role may not create them.
std::string HoldTimesSql(absl::string_view schema, absl::Span<const TableDefinition> tables);

// The statements for an operator who may create event triggers.
std::string CreateEventTriggersSql(absl::string_view schema);

// PL/pgSQL statements that drop the event triggers, whatever their names; they fail if the role may
// not drop them. They need a variable `leftover` of type text.
std::string DropEventTriggersSql(absl::string_view schema);

// A condition on the row t of a table by commit time: its time is not known yet, because its table
// was rewritten.
std::string IsInDoubt(absl::string_view schema);

// A condition: both event triggers exist and are enabled.
std::string EventTriggersAreOn(absl::string_view schema);

// Removes held times that no row needs any more, in one bounded step that continues after the
// previous one.
absl::Status RemoveHeldTimes(Connection& connection, absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_HELD_TIMES_H_
