#include "client/postgres/capture/stream/replication_stream.h"

#include <libpq-fe.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/postgres/capture/stream/wire_cursor.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/connect/sql_status.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr char kStreamApplicationName[] = "ttl-postgres capture";
constexpr absl::Duration kLongestInterval = absl::Seconds(10);
constexpr absl::Duration kShortestInterval = absl::Milliseconds(20);
// Microseconds from 1970 to 2000, PostgreSQL's epoch.
constexpr int64_t kPostgresEpochMicros = 946'684'800'000'000;

// The grammar of replication commands supports doubled quotes only.
std::string ReplicationText(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'");
}

std::string StartCommand(const std::string& slot, const std::string& publication) {
  return absl::StrCat("START_REPLICATION SLOT ", QuoteName(slot),
                      " LOGICAL 0/0 (proto_version '1', publication_names ",
                      ReplicationText(QuoteName(publication)), ")");
}

void AppendInt64(uint64_t number, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

std::string StatusUpdate(uint64_t received, uint64_t flushed, absl::Time now) {
  std::string message = "r";
  AppendInt64(std::max(received, flushed), message);  // written
  AppendInt64(flushed, message);                      // flushed
  AppendInt64(flushed, message);                      // applied
  AppendInt64(static_cast<uint64_t>(absl::ToUnixMicros(now) - kPostgresEpochMicros), message);
  message.push_back('\0');  // no reply requested
  return message;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplicationStream>> ReplicationStream::Start(
    const std::string& database, const std::string& slot, const std::string& publication) {
  TTL_ASSIGN_OR_RETURN(auto connection, Connection::Open(database, kStreamApplicationName,
                                                         Connection::Kind::kReplication));
  TTL_RETURN_IF_ERROR(connection->Query(StartCommand(slot, publication)).status());
  if (PQsetnonblocking(connection->raw(), 1) != 0) {
    return absl::UnavailableError("the connection for replication cannot be made non-blocking");
  }
  return std::unique_ptr<ReplicationStream>(new ReplicationStream(std::move(connection)));
}

ReplicationStream::ReplicationStream(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}

ReplicationStream::~ReplicationStream() = default;

void ReplicationStream::FreeBuffer::operator()(char* buffer) const { PQfreemem(buffer); }

int ReplicationStream::socket() const { return PQsocket(connection_->raw()); }

absl::StatusOr<ReplicationStream::Message> ReplicationStream::Next() {
  PGconn* const raw = connection_->raw();
  for (bool has_read = false;; has_read = true) {
    char* bytes = nullptr;
    const int size = PQgetCopyData(raw, &bytes, /*async=*/1);
    buffer_.reset(bytes);
    if (size > 0) return Parse(absl::string_view(bytes, static_cast<size_t>(size)));
    if (size < 0) return End();
    if (has_read) return Message();
    if (PQconsumeInput(raw) == 0) return StatusOfResult(nullptr, raw);
  }
}

absl::StatusOr<ReplicationStream::Message> ReplicationStream::Parse(absl::string_view bytes) {
  WireCursor cursor(bytes);
  Message message;
  const char kind = cursor.TakeByte();
  if (kind == 'w') {
    message.kind = Message::Kind::kData;
    const uint64_t start = cursor.TakeInt64();
    message.wal_end = cursor.TakeInt64();
    cursor.TakeTime();
    message.data = cursor.TakeBytes(cursor.left());
    received_ = std::max(received_, start);
  } else if (kind == 'k') {
    message.kind = Message::Kind::kKeepalive;
    message.wal_end = cursor.TakeInt64();
    cursor.TakeTime();
    reply_requested_ = cursor.TakeByte() != 0 || reply_requested_;
    received_ = std::max(received_, message.wal_end);
  } else {
    return absl::DataLossError("a message of no known kind in the replication stream");
  }
  if (!cursor.ok()) return absl::DataLossError("a replication message ends too early");
  return message;
}

absl::Status ReplicationStream::End() {
  PGconn* const raw = connection_->raw();
  PGresult* const result = PQgetResult(raw);
  absl::Status status = absl::UnavailableError("the server has ended the replication stream");
  const ExecStatusType kind = PQresultStatus(result);
  if (result == nullptr || kind == PGRES_FATAL_ERROR) status = StatusOfResult(result, raw);
  PQclear(result);
  return status;
}

void ReplicationStream::KeepAlive(uint64_t flushed, absl::Time now) {
  const bool is_due = now - last_status_ >= interval_ || now < last_status_;
  if (reply_requested_ || is_due) SendStatus(flushed, now);
}

void ReplicationStream::SendStatus(uint64_t flushed, absl::Time now) {
  PGconn* const raw = connection_->raw();
  const std::string message = StatusUpdate(received_, flushed, now);
  // The next status update replaces one that cannot be sent now.
  if (PQputCopyData(raw, message.data(), static_cast<int>(message.size())) == 1) {
    last_status_ = now;
    reply_requested_ = false;
  }
  PQflush(raw);
}

absl::Duration StatusInterval(absl::Duration wal_sender_timeout) {
  if (wal_sender_timeout <= absl::ZeroDuration()) return kLongestInterval;
  return std::clamp(wal_sender_timeout / 4, kShortestInterval, kLongestInterval);
}

}  // namespace ttl::postgres
