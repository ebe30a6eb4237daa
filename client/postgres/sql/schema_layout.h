#ifndef TTL_CLIENT_POSTGRES_SQL_SCHEMA_LAYOUT_H_
#define TTL_CLIENT_POSTGRES_SQL_SCHEMA_LAYOUT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// The schema of ttl-postgres, with the objects that do not depend on the configured tables:
//   policy    default_ttl of each container, mirrored from the sidecar; NULL: TTL is off. revision
//             is that of the sidecar at the last change, mirrored_at the time of that change.
//             has_holds: replace_expired removes no row, since it may be under a hold, or wait
//             for a gated subscription.
//   progress  progress of the first scan and of the search for items without a row, by container.
//   slots     names of all replication slots ever used, for uninstall.
//   renamed   tables whose name was given to their view, with these names.
//   migration the command for which `ttl-postgres migrate` has removed views and other objects.
//   faults    since when a table has been left out, or an installed object missing.
//   condemned groups that are being deleted in pieces: see group_condemned.h.
//   by_commit_time, rewritten, rewrites, held_times, known_files, and the functions that maintain
//             them: see held_times.h.
//   as_of()                          the instant that the session has set; see as_of.h.
//   is_expired(container, ts, ttl)   by the policy, at statement_timestamp() or at that instant.
//   first_visible_ts(container)      the earliest visible `_ts` of an item without its own ttl.
namespace ttl::postgres {

// Returns the SQL that creates or updates the schema; it fails if a schema of that name is not
// ours.
std::string CreateSchemaSql(absl::string_view schema);

// Returns the SQL that drops the schema and its objects; it fails if the schema contains other
// objects, or other objects depend on it.
std::string DropSchemaSql(absl::string_view schema);

// A condition: the schema exists and is ours.
std::string SchemaIsOurs(absl::string_view schema);

// Comment of a schema of the current version.
std::string SchemaComment(absl::string_view schema);

// The tables of the schema, and its functions as arguments of to_regprocedure(); all are qualified.
std::vector<std::string> SchemaTables(absl::string_view schema);
std::vector<std::string> SchemaFunctions(absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_SCHEMA_LAYOUT_H_
