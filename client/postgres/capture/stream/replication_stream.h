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

// What a walsender sends of a slot and a publication, by pgoutput, version 1. Never blocks
// after the start: the server is slowed down by not reading. For one thread.
class ReplicationStream {
 public:
  // Connects, and asks for all after the slot's confirmed position. Errors are those of
  // Connection: NOT_FOUND if there is no such slot, FAILED_PRECONDITION if it is in use.
  static absl::StatusOr<std::unique_ptr<ReplicationStream>> Start(const std::string& database,
                                                                  const std::string& slot,
                                                                  const std::string& publication);
  ~ReplicationStream();
  ReplicationStream(const ReplicationStream&) = delete;
  ReplicationStream& operator=(const ReplicationStream&) = delete;

  struct Message {
    enum class Kind {
      kNone,       // nothing has come yet
      kData,       // `data` is a message of pgoutput
      kKeepalive,  // all before `wal_end` has been sent
    };
    Kind kind = Kind::kNone;
    // How far the server is.
    uint64_t wal_end = 0;
    absl::string_view data;  // until the next call of Next()
  };

  // The next message. An error ends the stream: that of the server, or UNAVAILABLE.
  absl::StatusOr<Message> Next();

  // Says that all before `flushed` is durable, if it is time to say so again: by the
  // interval, or since the server asked. Errors are noticed by Next().
  void KeepAlive(uint64_t flushed, absl::Time now);
  // The same at once.
  void SendStatus(uint64_t flushed, absl::Time now);

  // How often the server has to hear from us: often enough that its wal_sender_timeout is
  // far, and every 10 s.
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

// What the interval has to be for this wal_sender_timeout; zero means that there is none.
absl::Duration StatusInterval(absl::Duration wal_sender_timeout);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_STREAM_H_
