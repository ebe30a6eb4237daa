#ifndef TTL_CLIENT_POSTGRES_SQL_HELD_TIMES_H_
#define TTL_CLIENT_POSTGRES_SQL_HELD_TIMES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

// A rewrite of a table by ALTER TABLE makes its own transaction the writer of every row, so that
// commit times say when that was. Two event triggers therefore hold the times of before, in tables
// of our own schema:
//   by_commit_time  the tables whose rows go by commit times.
//   rewritten       place and time of each row while its table is rewritten.
//   rewrites        the files that rewrites have made, each with the transactions that wrote its
//                   rows: one by ALTER TABLE, several by what swaps files.
//   held_times      the time of each row that is as a rewrite left it, by file and place, with the
//                   transaction that wrote it.
//   known_files     the files that the times which the sidecar knows belong to, and since when a
//                   partition has been attached.
// Where the triggers are missing or could not hold the times, and after what moves rows, the file
// differs from the one in known_files: ttl-postgres holds what the sidecar knows, and until then
// deletes no row that is as the rewrite left it. A held time is of one version of a row: whoever
// writes the row makes another, in another place. What moves versions makes another file, of which
// nothing is held. So a held time never counts for what the application wrote later, even in the
// transaction of the rewrite.
namespace ttl::postgres {

// Creates these tables and functions where they are not there yet.
std::string HeldTimesSql(absl::string_view schema);

// Its tables, and its functions as to_regprocedure() takes them; all are qualified.
std::vector<std::string> HeldTimesTables(absl::string_view schema);
std::vector<std::string> HeldTimesFunctions(absl::string_view schema);

// Notes the tables that go by commit times, and creates the event triggers if there are any and the
// role may create such; else a warning says so.
std::string HoldTimesSql(absl::string_view schema, absl::Span<const TableDefinition> tables);

// The statements of an operator who may create event triggers.
std::string CreateEventTriggersSql(absl::string_view schema);

// Statements of PL/pgSQL that drop the event triggers, by whatever names; an error if the role may
// not. They need a variable `leftover` of type text.
std::string DropEventTriggersSql(absl::string_view schema);

// A condition on the row t of a table by commit time: its time is not known yet, since its table
// was rewritten.
std::string IsInDoubt(absl::string_view schema);

// A condition: both event triggers are there and enabled.
std::string EventTriggersAreOn(absl::string_view schema);

// Removes held times that no row needs any more: one bounded step, which goes on where the last one
// ended.
absl::Status RemoveHeldTimes(Connection& connection, absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_HELD_TIMES_H_
