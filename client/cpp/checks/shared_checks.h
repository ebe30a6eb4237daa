#ifndef TTL_CLIENT_CPP_CHECKS_SHARED_CHECKS_H_
#define TTL_CLIENT_CPP_CHECKS_SHARED_CHECKS_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cpp/checks/check_stream.h"
#include "ttl/v1/item_service.grpc.pb.h"
#include "ttl/visibility_answer.h"

namespace ttl {

// Batches single checks of many threads into the messages of one StreamCheckVisibility call. There
// is no thread of its own: one of the callers is the leader, which sends the waiting checks,
// receives on its own thread, distributes the answers, and passes on the lead when its own answer
// has arrived. Checks that arrive meanwhile share the next messages. So messages grow with the
// load, and a lone caller waits for no other.
//
// A check is repeated by a unary call (`ask_alone`), once and within its deadline, if it was in
// flight when the stream broke, if its message was refused for a reason that may concern another
// check in it, or if the server was unavailable. So each caller gets the result that a unary call
// would have given. After a stream that never answered, checks use unary calls for a while; if the
// server does not implement the method, for good.
//
// Thread-safe. Connects on first use.
class SharedChecks {
 public:
  // Makes a unary call for one check. Blocks for at most `deadline`.
  using AskAlone = std::function<absl::StatusOr<VisibilityAnswer>(
      absl::string_view container, const v1::VisibilityCheck& check, absl::Duration deadline)>;

  struct Options {
    std::string address;  // of the server, for error messages

    // Maximum checks waiting to be sent; further ones are RESOURCE_EXHAUSTED.
    size_t max_waiting = 100'000;
    size_t max_checks_per_message = 1000;

    // How long checks use unary calls after a stream that never answered.
    std::chrono::nanoseconds rest = std::chrono::seconds(1);
  };

  // `stub` must outlive this.
  SharedChecks(v1::ItemService::Stub& stub, Options options, AskAlone ask_alone);
  // No thread may be in Check(). Ends the stream without waiting for the server.
  ~SharedChecks();
  SharedChecks(const SharedChecks&) = delete;
  SharedChecks& operator=(const SharedChecks&) = delete;

  // Blocks for at most `deadline`, and then returns DEADLINE_EXCEEDED. Other errors are those of
  // CheckVisibility; RESOURCE_EXHAUSTED also means that too many checks are waiting.
  absl::StatusOr<VisibilityAnswer> Check(absl::string_view container,
                                         const v1::VisibilityCheck& check, absl::Duration deadline);

  // Number of checks waiting to be sent.
  size_t waiting() const;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  using Lock = std::unique_lock<std::mutex>;

  // The deadline of a call of Check(), as given and as an instant.
  struct Limit {
    std::chrono::nanoseconds allowed;
    Instant deadline;
  };

  // Checks of one container that are sent together. Each caller waits until the message is settled
  // or its deadline has passed.
  struct Message {
    explicit Message(absl::string_view container);

    std::condition_variable changed;

    // Guarded by mutex_.
    size_t present = 0;  // callers still waiting
    bool settled = false;

    // Guarded by mutex_ until the message is sent, then used by the leader only.
    v1::CheckVisibilityRequest request;
    size_t checks = 0;

    // Used by the leader until the message is settled, then constant: one answer per check, an
    // error for all, or absent if each caller is to make a unary call.
    std::optional<absl::StatusOr<std::vector<VisibilityAnswer>>> verdict;
  };
  using MessagePtr = std::shared_ptr<Message>;

  using Verdict = decltype(Message::verdict);

  absl::StatusOr<VisibilityAnswer> AskByItself(absl::string_view container,
                                               const v1::VisibilityCheck& check,
                                               const Limit& limit) const;
  absl::Status TooLate(const Limit& limit) const;

  // Require the lock.
  bool MayShare(Instant now) const;
  absl::Status TooManyWait() const;
  MessagePtr OpenMessage(absl::string_view container);
  MessagePtr Successors() const;
  void Settle(const MessagePtr& message, Verdict verdict);
  void SettleWaiting();

  // Waits, or leads, until `own` is settled or the deadline has passed. Releases the lock. Returns
  // whether `own` is settled.
  bool Await(Lock lock, Message& own, const Limit& limit);

  // Called by the leader while its own message is not settled. Require the lock, and release it
  // while they work.
  void Lead(Lock& lock, const Message& own, const Limit& limit);
  void SendWaiting(Lock& lock);
  bool Receive(Lock& lock, Instant deadline);  // false: deadline
  void EndStream(Lock& lock);
  void DropStream(Lock& lock);
  void WakeSettled(Lock& lock);

  // Called by the leader.
  bool IsStuck(std::chrono::nanoseconds waited) const;
  Verdict Judge(const Message& message, const v1::StreamCheckVisibilityResponse& response) const;

  v1::ItemService::Stub& stub_;
  const Options options_;
  const AskAlone ask_alone_;

  mutable std::mutex mutex_;
  // All guarded by mutex_.
  bool led_ = false;  // there is a leader
  std::vector<MessagePtr> waiting_;
  size_t checks_waiting_ = 0;
  absl::flat_hash_map<std::string, MessagePtr> open_;  // the last of each container in waiting_
  bool alone_for_good_ = false;
  Instant alone_until_ = Instant::min();

  // Used by the leader only.
  std::unique_ptr<CheckStream> stream_;
  std::deque<MessagePtr> in_flight_;  // sent and not yet answered, oldest first
  Instant last_progress_;             // when messages were last sent or answered
  std::vector<MessagePtr> settled_;   // callers are not woken yet
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CHECKS_SHARED_CHECKS_H_
