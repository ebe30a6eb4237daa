#ifndef TTL_CLIENT_POSTGRES_SQL_SCHEMA_LAYOUT_H_
#define TTL_CLIENT_POSTGRES_SQL_SCHEMA_LAYOUT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// The schema that is ttl-postgres's own, with what is in it whatever the tables are:
//   policy    default_ttl of each container, mirrored from the sidecar; NULL: TTL is off.
//             revision is the sidecar's when it came, mirrored_at the time of the change.
//   progress  how far the first scan and the search for ghosts of each container are.
//   slots     names of the replication slots that were ever used, for uninstall.
//   renamed   tables that were renamed so that their views have their names, with these names.
//   migration the command for which `ttl-postgres migrate` has taken views and the like away.
//   faults    since when a table has been left out, or an installed object been missing.
//   by_commit_time, rewritten, rewrites, held_times, and the functions that fill and empty them:
//             see held_times.h.
//   is_expired(container, ts, ttl)   by the policy, at statement_timestamp().
//   first_visible_ts(container)      the earliest _ts that is visible without an own ttl.
namespace ttl::postgres {

// Makes it, or brings it up to date; an error if there is a schema of that name that is not
// ours.
std::string CreateSchemaSql(absl::string_view schema);

// Removes it with what is in it; an error if others have put something in, or use it.
std::string DropSchemaSql(absl::string_view schema);

// A condition that holds while the schema is there, and ours.
std::string SchemaIsOurs(absl::string_view schema);

// The comment of a schema that is up to date.
std::string SchemaComment(absl::string_view schema);

// Its tables, and its functions as to_regprocedure() takes them; all are qualified.
std::vector<std::string> SchemaTables(absl::string_view schema);
std::vector<std::string> SchemaFunctions(absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_SCHEMA_LAYOUT_H_
