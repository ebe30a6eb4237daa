#ifndef TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_TABLE_PREVIEW_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_TABLE_PREVIEW_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/postgres/program/command.h"
#include "client/postgres/program/preview/sidecar_view.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Counts all rows of the table, and prints how many a default_ttl would hide and delete at once,
// when the oldest and the newest of them ended, and how long deleting them takes at `limit`.
// Changes nothing.
absl::Status PrintTablePreview(Connection& connection, const TableDefinition& table,
                               int64_t default_ttl, const DeleteLimit& limit, Output output);

// How long `rows` take, or how long they would if nothing limits their deletes: for people. `done`
// is what is done to them: "deleting them".
std::string DeletesTake(int64_t rows, const DeleteLimit& limit, absl::string_view done);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_TABLE_PREVIEW_H_
