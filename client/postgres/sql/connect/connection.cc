#include "client/postgres/sql/connect/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/sql_status.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

struct Setting {
  absl::string_view name;
  absl::string_view value;
};

// Settings that determine the text format of values.
constexpr Setting kTextSettings[] = {{"TimeZone", "UTC"},           {"DateStyle", "ISO"},
                                     {"IntervalStyle", "iso_8601"}, {"bytea_output", "hex"},
                                     {"array_nulls", "on"},         {"extra_float_digits", "1"}};

// Sent with the startup packet, so that a pooler or RESET cannot undo them. The defaults of roles
// and databases are meant for applications.
std::string SessionSettings() {
  std::string options =
      "-c client_min_messages=warning -c default_transaction_read_only=off "
      "-c default_transaction_isolation=read\\ committed -c statement_timeout=0 -c lock_timeout=0 "
      "-c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0";
  for (const Setting& setting : kTextSettings) {
    absl::StrAppend(&options, " -c ", setting.name, "=", setting.value);
  }
  return options;
}

constexpr int kDefaultConnectSeconds = 10;
constexpr int kMaxConnectSeconds = 3600;

// Options of a connection string, by keyword.
using Parsed = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

// libpq quotes the part that it cannot parse, which may contain a part of the password.
std::string WithoutPassword(absl::string_view problem, absl::string_view database) {
  if (!absl::StrContains(database, "password") && !absl::StrContains(database, "@")) {
    return std::string(problem);
  }
  const size_t first = problem.find('"');
  const size_t last = problem.rfind('"');
  if (first == last) return std::string(problem.substr(0, first));
  return absl::StrCat(problem.substr(0, first), "\"...\"", problem.substr(last + 1));
}

absl::StatusOr<Parsed> Parse(const std::string& database) {
  char* error = nullptr;
  Parsed parsed(PQconninfoParse(database.c_str(), &error), PQconninfoFree);
  if (parsed != nullptr) return parsed;
  const std::string problem(absl::StripAsciiWhitespace(error == nullptr ? "no memory" : error));
  PQfreemem(error);
  return absl::InvalidArgumentError(absl::StrCat(
      "not a connection string of PostgreSQL, such as \"host=/var/run/postgresql dbname=shop\": ",
      WithoutPassword(problem, database)));
}

// The value of a keyword in the connection string, else in the environment; absent: in neither.
std::optional<std::string> Said(const Parsed& parsed, absl::string_view keyword) {
  for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->keyword != keyword) continue;
    if (option->val != nullptr) return option->val;
    const char* value = option->envvar == nullptr ? nullptr : getenv(option->envvar);
    if (value != nullptr) return value;
  }
  return std::nullopt;
}

// A reserved character in the password of a URI ends the host or the port early, and errors about
// these would show a part of the password.
absl::Status CheckUri(const Parsed& parsed, absl::string_view database) {
  if (!absl::StartsWith(database, "postgresql://") && !absl::StartsWith(database, "postgres://")) {
    return absl::OkStatus();
  }
  const std::string port = Said(parsed, "port").value_or("");
  const bool is_port = std::all_of(port.begin(), port.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == ',';
  });
  const auto has_at = [&](absl::string_view keyword) {
    return absl::StrContains(Said(parsed, keyword).value_or(""), "@");
  };
  if (is_port && !has_at("host") && !has_at("dbname")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "database is a URI whose host, port or dbname cannot be told from its user and password: in "
      "these write % and the two hexadecimal digits of each of : / ? # [ ] @ and %");
}

// The connect_timeout of a connection string; the default if it is missing, malformed, or 0, which
// libpq treats as no limit.
int ConnectSeconds(const Parsed& parsed) {
  int seconds = 0;
  if (!absl::SimpleAtoi(Said(parsed, "connect_timeout").value_or(""), &seconds) || seconds <= 0) {
    return kDefaultConnectSeconds;
  }
  return std::min(seconds, kMaxConnectSeconds);
}

int CountHosts(const Parsed& parsed) {
  const std::string hosts =
      absl::StrCat(Said(parsed, "hostaddr").value_or(Said(parsed, "host").value_or("")));
  return 1 + static_cast<int>(std::count(hosts.begin(), hosts.end(), ','));
}

constexpr std::chrono::milliseconds kBreakPoll{100};

// Waits until the attempt has succeeded or failed. Returns false on a timeout or an interrupt.
bool Complete(PGconn* connection, std::chrono::seconds limit, const ConnectionBreaker* breaker) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || (breaker != nullptr && breaker->is_broken())) return false;
    pollfd wait = {.fd = PQsocket(connection),
                   .events = state == PGRES_POLLING_READING ? short{POLLIN} : short{POLLOUT},
                   .revents = 0};
    const auto turn = breaker == nullptr ? left : std::min(left, kBreakPoll);
    const int ready = poll(&wait, 1, static_cast<int>(turn.count()));
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0) state = PQconnectPoll(connection);
  }
  return true;
}

// Logs notices at debug only, since a trigger may raise one for every deleted row.
void LogNotice(void*, const char* message) {
  spdlog::debug("database: {}", std::string(absl::StripTrailingAsciiWhitespace(message)));
}

// Starts to connect. The last value of a keyword wins, so those before dbname are defaults: they
// detect a server that disappears silently, even while waiting for an answer.
PGconn* Begin(const Parsed& parsed, const std::string& database,
              const std::string& application_name, bool is_replication) {
  const std::string milliseconds = absl::StrCat(ConnectSeconds(parsed) * 1000);
  const std::string options =
      absl::StrCat(Said(parsed, "options").value_or(""), " ", SessionSettings());
  std::vector<const char*> names = {
      "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout",
      "dbname",          "application_name",    "options",          "client_encoding"};
  std::vector<const char*> values = {"10",
                                     "5",
                                     "3",
                                     milliseconds.c_str(),
                                     database.c_str(),
                                     application_name.c_str(),
                                     options.c_str(),
                                     "UTF8"};
  if (is_replication) {
    names.push_back("replication");
    values.push_back("database");
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectStartParams(names.data(), values.data(), /*expand_dbname=*/1);
}

constexpr char kOwnAddress[] =
    "ttl-postgres needs sessions of its own, for settings and locks: give the server's own address "
    "as database";

// A pooler refuses a startup parameter that it does not know.
absl::Status WhyNotOpen(PGconn* connection, Connection::Kind kind) {
  absl::Status status = StatusOfFailedOpen(connection);
  if (!absl::StrContains(status.message(), "unsupported startup parameter")) return status;
  if (kind == Connection::Kind::kReplication) return absl::InvalidArgumentError(status.message());
  return absl::InvalidArgumentError(
      absl::StrCat(status.message(), "; database leads through a pooler, and ", kOwnAddress));
}

// A pooler may drop the startup settings. Setting them afterwards would change the sessions of
// other clients, to which the pooler may give the same connection.
absl::Status CheckSettings(const PGconn* connection) {
  const char* style = PQparameterStatus(connection, "IntervalStyle");
  if (style != nullptr && absl::string_view(style) == "iso_8601") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "database leads through a pooler that drops the settings of a session, and ", kOwnAddress));
}

bool HasNul(const std::string& text) { return text.find('\0') != std::string::npos; }

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const std::string& database,
                                                             const std::string& application_name,
                                                             Kind kind,
                                                             ConnectionBreaker* breaker) {
  TTL_ASSIGN_OR_RETURN(const Parsed parsed, Parse(database));
  TTL_RETURN_IF_ERROR(CheckUri(parsed, database));
  Handle handle(Begin(parsed, database, application_name, kind == Kind::kReplication));
  if (handle == nullptr) return absl::ResourceExhaustedError("no memory for a connection");
  PQsetErrorVerbosity(handle.get(), PQERRORS_VERBOSE);
  PQsetNoticeProcessor(handle.get(), LogNotice, nullptr);
  const int seconds = ConnectSeconds(parsed) * CountHosts(parsed);
  if (PQstatus(handle.get()) != CONNECTION_BAD &&
      !Complete(handle.get(), std::chrono::seconds(seconds), breaker)) {
    return absl::UnavailableError(absl::StrCat("the database at ", PQhost(handle.get()), ":",
                                               PQport(handle.get()), " does not answer within ",
                                               seconds, " s"));
  }
  if (PQstatus(handle.get()) != CONNECTION_OK) return WhyNotOpen(handle.get(), kind);
  if (breaker != nullptr) breaker->Add(PQsocket(handle.get()));
  TTL_RETURN_IF_ERROR(CheckSettings(handle.get()));
  // A SQL_ASCII database stores arbitrary bytes, which must not make a query fail.
  const char* encoding = PQparameterStatus(handle.get(), "server_encoding");
  if (encoding != nullptr && absl::string_view(encoding) == "SQL_ASCII" &&
      PQsetClientEncoding(handle.get(), "SQL_ASCII") != 0) {
    return absl::UnavailableError(PQerrorMessage(handle.get()));
  }
  return std::unique_ptr<Connection>(new Connection(std::move(handle), kind));
}

absl::StatusOr<QueryResult> Connection::Query(const std::string& statement,
                                              absl::Span<const Parameter> parameters) {
  // A walsender does not support parameters.
  if (kind_ == Kind::kReplication && parameters.empty()) return Execute(statement);
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const Parameter& parameter : parameters) {
    // libpq would truncate the parameter at the zero byte, and the statement would match another
    // row.
    if (parameter.has_value() && HasNul(*parameter)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "parameter $", values.size() + 1, " has a zero byte, which no text of PostgreSQL has"));
    }
    values.push_back(parameter.has_value() ? parameter->c_str() : nullptr);
  }
  return Take(PQexecParams(raw(), statement.c_str(), static_cast<int>(values.size()), nullptr,
                           values.data(), nullptr, nullptr, /*resultFormat=*/0));
}

absl::StatusOr<QueryResult> Connection::Execute(const std::string& statements) {
  return Take(PQexec(raw(), statements.c_str()));
}

std::string Connection::SetTextSettings() {
  std::string statements;
  for (const Setting& setting : kTextSettings) {
    absl::StrAppend(&statements, "SET LOCAL ", setting.name, " = '", setting.value, "';");
  }
  return statements;
}

absl::StatusOr<QueryResult> Connection::Take(PGresult* result) {
  QueryResult taken(result);
  switch (PQresultStatus(result)) {
    case PGRES_EMPTY_QUERY:
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_COPY_IN:
    case PGRES_COPY_OUT:
    case PGRES_COPY_BOTH:
      return taken;
    default:
      return StatusOfResult(result, raw());
  }
}

}  // namespace ttl::postgres
