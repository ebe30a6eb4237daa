#include "client/postgres/sql/connect/sql_status.h"

#include <gtest/gtest.h>

#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {
namespace {

TEST(SqlStatusTest, CodeSaysHowToGoOn) {
  const struct {
    const char* sql_state;
    absl::StatusCode code;
  } kCases[] = {
      {"08006", absl::StatusCode::kUnavailable},         // connection_failure
      {"57P01", absl::StatusCode::kUnavailable},         // admin_shutdown
      {"57P03", absl::StatusCode::kUnavailable},         // cannot_connect_now
      {"25P03", absl::StatusCode::kUnavailable},         // idle_in_transaction_session_timeout
      {"40001", absl::StatusCode::kAborted},             // serialization_failure
      {"40P01", absl::StatusCode::kAborted},             // deadlock_detected
      {"55P03", absl::StatusCode::kAborted},             // lock_not_available
      {"57014", absl::StatusCode::kAborted},             // query_canceled
      {"28P01", absl::StatusCode::kPermissionDenied},    // invalid_password
      {"42501", absl::StatusCode::kPermissionDenied},    // insufficient_privilege
      {"42P01", absl::StatusCode::kNotFound},            // undefined_table
      {"42704", absl::StatusCode::kNotFound},            // undefined_object
      {"42710", absl::StatusCode::kAlreadyExists},       // duplicate_object
      {"53100", absl::StatusCode::kResourceExhausted},   // disk_full
      {"54000", absl::StatusCode::kResourceExhausted},   // program_limit_exceeded
      {"22P02", absl::StatusCode::kInvalidArgument},     // invalid_text_representation
      {"42601", absl::StatusCode::kInvalidArgument},     // syntax_error
      {"23503", absl::StatusCode::kFailedPrecondition},  // foreign_key_violation
      {"25006", absl::StatusCode::kFailedPrecondition},  // read_only_sql_transaction
      {"55006", absl::StatusCode::kFailedPrecondition},  // object_in_use
      {"P0001", absl::StatusCode::kFailedPrecondition},  // raise_exception
      {"XX000", absl::StatusCode::kInternal},            // internal_error
      {"", absl::StatusCode::kInternal},
  };
  for (const auto& [sql_state, code] : kCases) {
    EXPECT_EQ(CodeOfSqlState(sql_state), code) << sql_state;
  }
}

TEST(SqlStatusTest, ErrorThatIsNotTheServersHasNoSqlState) {
  EXPECT_EQ(SqlState(absl::OkStatus()), "");
  EXPECT_EQ(SqlState(absl::UnavailableError("no route")), "");
  EXPECT_EQ(SqlMessage(absl::UnavailableError("no route")), "");
}

}  // namespace
}  // namespace ttl::postgres
