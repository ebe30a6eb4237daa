#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_STREAM_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// ReplicationStream receives the changes of a slot and a publication from a walsender, by pgoutput
// version 1. It never blocks after Start(): not reading slows the server down. Not thread-safe.
class ReplicationStream {
 public:
  // Connects, and requests everything after the slot's confirmed LSN. Errors are those of
  // Connection: NOT_FOUND if there is no such slot, FAILED_PRECONDITION if it is in use.
  static absl::StatusOr<std::unique_ptr<ReplicationStream>> Start(const std::string& database,
                                                                  const std::string& slot,
                                                                  const std::string& publication);
  ~ReplicationStream();
  ReplicationStream(const ReplicationStream&) = delete;
  ReplicationStream& operator=(const ReplicationStream&) = delete;

  struct Message {
    enum class Kind {
      kNone,       // nothing has arrived yet
      kData,       // `data` is a pgoutput message
      kKeepalive,  // everything before `wal_end` has been sent
    };
    Kind kind = Kind::kNone;
    // The server's WAL position.
    uint64_t wal_end = 0;
    absl::string_view data;  // valid until the next call of Next()
  };

  // Returns the next message. An error ends the stream: the server's, or UNAVAILABLE.
  absl::StatusOr<Message> Next();

  // Tells the server that everything before `flushed` is durable, if the interval has passed or the
  // server has requested it. Next() returns any error.
  void KeepAlive(uint64_t flushed, absl::Time now);
  // The same, immediately.
  void SendStatus(uint64_t flushed, absl::Time now);

  // Interval of status updates: well below wal_sender_timeout, and at most 10 s.
  void set_interval(absl::Duration interval) { interval_ = interval; }

  // Becomes readable when Next() has something new.
  int socket() const;

 private:
  struct FreeBuffer {
    void operator()(char* buffer) const;
  };

  explicit ReplicationStream(std::unique_ptr<Connection> connection);
  absl::StatusOr<Message> Parse(absl::string_view bytes);
  absl::Status End();

  const std::unique_ptr<Connection> connection_;
  std::unique_ptr<char, FreeBuffer> buffer_;
  absl::Duration interval_ = absl::Seconds(10);
  absl::Time last_status_ = absl::InfinitePast();
  uint64_t received_ = 0;
  bool reply_requested_ = false;
};

// The status interval for this wal_sender_timeout; zero: there is no timeout.
absl::Duration StatusInterval(absl::Duration wal_sender_timeout);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_STREAM_H_
