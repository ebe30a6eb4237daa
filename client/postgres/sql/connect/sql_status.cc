#include "client/postgres/sql/connect/sql_status.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/postgres/sql/connect/sql_error.h"

namespace ttl::postgres {
namespace {

constexpr absl::string_view kSqlStatePayload = "ttl.postgres/sqlstate";
constexpr absl::string_view kMessagePayload = "ttl.postgres/message";
constexpr size_t kSqlStateLength = 5;

struct CodeOfPrefix {
  absl::string_view prefix;  // of a SQLSTATE; the first match wins
  absl::StatusCode code;
};

// A full code must precede its class.
constexpr CodeOfPrefix kCodes[] = {
    {"08", absl::StatusCode::kUnavailable},     // connection exception
    {"57P0", absl::StatusCode::kUnavailable},   // shutting down, starting, database dropped
    {"25P03", absl::StatusCode::kUnavailable},  // idle in a transaction for too long

    {"40", absl::StatusCode::kAborted},     // serialization, deadlock
    {"55P03", absl::StatusCode::kAborted},  // lock timeout
    {"57014", absl::StatusCode::kAborted},  // statement timeout

    {"28", absl::StatusCode::kPermissionDenied},
    {"42501", absl::StatusCode::kPermissionDenied},

    {"42P01", absl::StatusCode::kNotFound},  // table
    {"42703", absl::StatusCode::kNotFound},  // column
    {"42704", absl::StatusCode::kNotFound},  // slot, publication, type, ...
    {"42883", absl::StatusCode::kNotFound},  // function
    {"3D000", absl::StatusCode::kNotFound},  // database
    {"3F000", absl::StatusCode::kNotFound},  // schema

    {"42P04", absl::StatusCode::kAlreadyExists},  // database
    {"42P06", absl::StatusCode::kAlreadyExists},  // schema
    {"42P07", absl::StatusCode::kAlreadyExists},  // table
    {"42701", absl::StatusCode::kAlreadyExists},  // column
    {"42710", absl::StatusCode::kAlreadyExists},  // slot, publication, type, ...
    {"42723", absl::StatusCode::kAlreadyExists},  // function

    {"53", absl::StatusCode::kResourceExhausted},  // disk, memory, connections
    {"54", absl::StatusCode::kResourceExhausted},  // program limits

    {"22", absl::StatusCode::kInvalidArgument},  // data
    {"42", absl::StatusCode::kInvalidArgument},  // syntax

    {"09", absl::StatusCode::kFailedPrecondition},  // triggers
    {"0A", absl::StatusCode::kFailedPrecondition},  // not supported
    {"23", absl::StatusCode::kFailedPrecondition},  // constraints
    {"25", absl::StatusCode::kFailedPrecondition},  // state of the transaction, read-only
    {"27", absl::StatusCode::kFailedPrecondition},  // triggers
    {"2B", absl::StatusCode::kFailedPrecondition},  // dependent objects exist
    {"38", absl::StatusCode::kFailedPrecondition},  // functions
    {"39", absl::StatusCode::kFailedPrecondition},  // functions
    {"44", absl::StatusCode::kFailedPrecondition},  // WITH CHECK OPTION
    {"55", absl::StatusCode::kFailedPrecondition},  // in use, not in the right state, settings
    {"P0", absl::StatusCode::kFailedPrecondition},  // RAISE
};

// Classes of SQLSTATE that no value of a row causes.
constexpr absl::string_view kClassesOfOthers[] = {"08", "25", "26", "28", "2B", "34",
                                                  "3D", "3F", "40", "42", "53", "54",
                                                  "55", "57", "58", "F0", "HV", "XX"};

std::string Field(const PGresult* result, int field) {
  const char* value = PQresultErrorField(result, field);
  return value == nullptr ? "" : value;
}

std::string Stripped(const char* message) {
  return std::string(absl::StripAsciiWhitespace(message));
}

absl::Status WithSqlState(absl::StatusCode code, absl::string_view message,
                          const std::string& sql_state, const std::string& server_message) {
  absl::Status status(code, message);
  status.SetPayload(kSqlStatePayload, absl::Cord(sql_state));
  status.SetPayload(kMessagePayload, absl::Cord(server_message));
  return status;
}

std::string PayloadOf(const absl::Status& status, absl::string_view name) {
  const auto payload = status.GetPayload(name);
  return payload.has_value() ? std::string(*payload) : "";
}

// Finds the SQLSTATE in a verbose message, "FATAL:  28000: role ...", in any language.
std::string FindSqlState(absl::string_view message) {
  constexpr absl::string_view kBefore = ":  ";
  for (size_t at = message.find(kBefore); at != absl::string_view::npos;
       at = message.find(kBefore, at + 1)) {
    const absl::string_view rest = message.substr(at + kBefore.size());
    if (rest.size() <= kSqlStateLength || rest[kSqlStateLength] != ':') continue;
    const absl::string_view code = rest.substr(0, kSqlStateLength);
    const auto fits = [](char c) { return absl::ascii_isdigit(c) || absl::ascii_isupper(c); };
    if (std::all_of(code.begin(), code.end(), fits)) return std::string(code);
  }
  return "";
}

// Whether a line is a location in the source of the server: "LOCATION:  InitPostgres,
// postinit.c:1".
bool IsLocation(absl::string_view line) {
  constexpr absl::string_view kFile = ".c:";
  const size_t file = line.rfind(kFile);
  if (file == absl::string_view::npos) return false;
  const absl::string_view number = line.substr(file + kFile.size());
  return !number.empty() && std::all_of(number.begin(), number.end(), absl::ascii_isdigit);
}

// Removes the location lines from a verbose message.
std::string WithoutLocation(absl::string_view message) {
  std::vector<absl::string_view> lines = absl::StrSplit(message, '\n', absl::SkipWhitespace());
  lines.erase(std::remove_if(lines.begin(), lines.end(), IsLocation), lines.end());
  return absl::StrJoin(lines, "\n");
}

absl::StatusCode CodeOfFailedOpen(absl::string_view sql_state) {
  const absl::StatusCode code = CodeOfSqlState(sql_state);
  switch (code) {
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kInvalidArgument:
      return code;
    case absl::StatusCode::kNotFound:
      // The missing object is the database, or a setting in the connection string.
      return sql_state == "3D000" ? absl::StatusCode::kPermissionDenied
                                  : absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

}  // namespace

absl::StatusCode CodeOfSqlState(absl::string_view sql_state) {
  for (const CodeOfPrefix& known : kCodes) {
    if (absl::StartsWith(sql_state, known.prefix)) return known.code;
  }
  return absl::StatusCode::kInternal;
}

absl::Status StatusOfResult(const PGresult* result, PGconn* connection) {
  const bool is_open = PQstatus(connection) == CONNECTION_OK;
  const std::string sql_state = Field(result, PG_DIAG_SQLSTATE);
  if (sql_state.empty()) {
    return absl::Status(
        is_open ? absl::StatusCode::kInternal : absl::StatusCode::kUnavailable,
        absl::StrCat("the connection to the database: ", Stripped(PQerrorMessage(connection))));
  }
  const std::string primary = Field(result, PG_DIAG_MESSAGE_PRIMARY);
  std::string message = primary;
  for (const int more : {PG_DIAG_MESSAGE_DETAIL, PG_DIAG_MESSAGE_HINT}) {
    if (const std::string text = Field(result, more); !text.empty()) {
      absl::StrAppend(&message, "; ", text);
    }
  }
  absl::StrAppend(&message, " (SQLSTATE ", sql_state, ")");
  return WithSqlState(is_open ? CodeOfSqlState(sql_state) : absl::StatusCode::kUnavailable, message,
                      sql_state, primary);
}

absl::Status StatusOfFailedOpen(PGconn* connection) {
  const std::string message = WithoutLocation(PQerrorMessage(connection));
  const std::string sql_state = FindSqlState(message);
  if (!sql_state.empty()) {
    return WithSqlState(CodeOfFailedOpen(sql_state), message, sql_state, message);
  }
  if (PQconnectionNeedsPassword(connection)) return absl::PermissionDeniedError(message);
  return absl::UnavailableError(message);
}

bool IsAboutTheStatement(const absl::Status& status) {
  const std::string state = SqlState(status);
  constexpr absl::string_view kClasses[] = {"0A", "22", "23", "42"};
  return std::any_of(std::begin(kClasses), std::end(kClasses),
                     [&](absl::string_view of) { return absl::StartsWith(state, of); });
}

bool IsFaultOfRow(const absl::Status& status) {
  const std::string state = SqlState(status);
  if (state.empty() || absl::IsUnavailable(status)) return false;
  return std::none_of(std::begin(kClassesOfOthers), std::end(kClassesOfOthers),
                      [&](absl::string_view of) { return absl::StartsWith(state, of); });
}

std::string SqlState(const absl::Status& status) { return PayloadOf(status, kSqlStatePayload); }

std::string SqlMessage(const absl::Status& status) { return PayloadOf(status, kMessagePayload); }

}  // namespace ttl::postgres
