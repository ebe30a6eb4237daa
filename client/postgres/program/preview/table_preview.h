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
// when the oldest and the newest of them expired, and how long deleting them takes at `limit`.
// Changes nothing.
absl::Status PrintTablePreview(Connection& connection, const TableDefinition& table,
                               int64_t default_ttl, const DeleteLimit& limit, Output output);

// Describes how long deleting `rows` takes, or would take at an example rate if there is no limit,
// for humans. `done` names the action: "deleting them".
std::string DeletesTake(int64_t rows, const DeleteLimit& limit, absl::string_view done);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_TABLE_PREVIEW_H_
