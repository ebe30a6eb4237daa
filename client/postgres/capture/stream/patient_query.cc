#include "client/postgres/capture/stream/patient_query.h"

#include <libpq-fe.h>
#include <poll.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "client/postgres/sql/connect/sql_status.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr std::chrono::seconds kLongestCancel(1);

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

// Runs on its own thread, because libpq blocks until the server answers, and the server may hang.
void CancelStatement(PGconn* connection) {
  PGcancel* const cancel = PQgetCancel(connection);
  if (cancel == nullptr) return;
  std::packaged_task<void()> ask([cancel] {
    char problem[256];
    PQcancel(cancel, problem, sizeof(problem));
    PQfreeCancel(cancel);
  });
  const std::future<void> asked = ask.get_future();
  std::thread(std::move(ask)).detach();
  asked.wait_for(kLongestCancel);
}

}  // namespace

PatientQuery::PatientQuery(Connection& connection, absl::Duration interval,
                           std::function<absl::Status()> meanwhile)
    : connection_(connection),
      interval_(absl::ToChronoNanoseconds(interval)),
      meanwhile_(std::move(meanwhile)) {}

absl::StatusOr<QueryResult> PatientQuery::Query(
    const std::string& statement, absl::Span<const Connection::Parameter> parameters) {
  PGconn* const raw = connection_.raw();
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const Connection::Parameter& parameter : parameters) {
    values.push_back(parameter.has_value() ? parameter->c_str() : nullptr);
  }
  if (PQsendQueryParams(raw, statement.c_str(), static_cast<int>(values.size()), nullptr,
                        values.data(), nullptr, nullptr, /*resultFormat=*/0) == 0) {
    return StatusOfResult(nullptr, raw);
  }
  TTL_RETURN_IF_ERROR(AwaitAnswer());
  Result answer(PQgetResult(raw));
  while (Result more{PQgetResult(raw)}) {
  }
  const ExecStatusType kind = PQresultStatus(answer.get());
  if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK) return StatusOfResult(answer.get(), raw);
  return QueryResult(answer.release());
}

absl::Status PatientQuery::AwaitAnswer() {
  PGconn* const raw = connection_.raw();
  auto next = std::chrono::steady_clock::now() + interval_;
  while (PQisBusy(raw)) {
    const auto left = next - std::chrono::steady_clock::now();
    if (left <= left.zero()) {
      if (absl::Status status = meanwhile_(); !status.ok()) {
        CancelStatement(raw);
        return status;
      }
      next = std::chrono::steady_clock::now() + interval_;
      continue;
    }
    pollfd wait = {.fd = PQsocket(raw), .events = POLLIN, .revents = 0};
    poll(&wait, 1, static_cast<int>(left / std::chrono::milliseconds(1)) + 1);
    // The result shows a lost connection.
    if (wait.revents != 0 && PQconsumeInput(raw) == 0) return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace ttl::postgres
