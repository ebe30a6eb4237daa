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
#include "client/cpp/checks/visibility_answer.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {

// Lets single checks of many threads share the messages of one StreamCheckVisibility
// call. One of the callers leads: it sends what waits, receives in its own thread, hands
// out the answers, and has another one lead when its own has come. What waits meanwhile
// goes together into the next messages, so messages grow with the load, and a lone
// caller waits for nobody. No thread of its own.
//
// What is asked again by a call of its own (`ask_alone`), once and within its deadline:
// what was under way when the stream broke; what was refused for a reason that can be of
// another check in the same message; what only an unavailable server refused. So each
// caller gets what a call of its own would have got. After a stream that never answered,
// checks go alone for a while; if the server does not have the method, for good.
//
// Thread-safe. Connects when first used.
class SharedChecks {
 public:
  // A check by a call of its own, which blocks for at most `deadline`.
  using AskAlone = std::function<absl::StatusOr<VisibilityAnswer>(
      absl::string_view container, const v1::VisibilityCheck& check, absl::Duration deadline)>;

  struct Options {
    std::string address;  // of the server, for errors

    // Most checks that wait to be sent; beyond it they are refused.
    size_t max_waiting = 100'000;
    size_t max_checks_per_message = 1000;

    // How long checks go alone after a stream that never answered.
    std::chrono::nanoseconds rest = std::chrono::seconds(1);
  };

  // `stub` must outlive this.
  SharedChecks(v1::ItemService::Stub& stub, Options options, AskAlone ask_alone);
  // To be destroyed while nobody is in Check(). Ends the stream without waiting for the
  // server.
  ~SharedChecks();
  SharedChecks(const SharedChecks&) = delete;
  SharedChecks& operator=(const SharedChecks&) = delete;

  // Blocks for at most `deadline`, then it is DEADLINE_EXCEEDED. Errors are those of
  // CheckVisibility; RESOURCE_EXHAUSTED also if too many checks wait.
  absl::StatusOr<VisibilityAnswer> Check(absl::string_view container,
                                         const v1::VisibilityCheck& check, absl::Duration deadline);

  // How many checks wait to be sent.
  size_t waiting() const;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  using Lock = std::unique_lock<std::mutex>;

  // Until when one call of Check() may last, and how long that was from its start.
  struct Limit {
    std::chrono::nanoseconds allowed;
    Instant deadline;
  };

  // Checks of one container that are sent together. Callers share it, and leave when it
  // is settled or when their time is over, whichever is first.
  struct Message {
    explicit Message(absl::string_view container);

    std::condition_variable changed;

    // Guarded by mutex_.
    size_t present = 0;  // callers that have not left
    bool settled = false;

    // Guarded by mutex_ while it waits to be sent, then for the one who leads.
    v1::CheckVisibilityRequest request;
    size_t checks = 0;

    // For the one who leads until it is settled, then no longer changed: one answer per
    // check, an error for all, or none if each is to ask alone.
    std::optional<absl::StatusOr<std::vector<VisibilityAnswer>>> verdict;
  };
  using MessagePtr = std::shared_ptr<Message>;

  using Verdict = decltype(Message::verdict);

  absl::StatusOr<VisibilityAnswer> AskByItself(absl::string_view container,
                                               const v1::VisibilityCheck& check,
                                               const Limit& limit) const;
  absl::Status TooLate(const Limit& limit) const;

  // With the lock held.
  bool MayShare(Instant now) const;
  absl::Status TooManyWait() const;
  MessagePtr OpenMessage(absl::string_view container);
  MessagePtr Successors() const;
  void Settle(const MessagePtr& message, Verdict verdict);
  void SettleWaiting();

  // Waits, or leads, until `own` is settled or the deadline has passed. Returns whether
  // it is settled, without the lock.
  bool Await(Lock lock, Message& own, const Limit& limit);

  // By the one who leads, whose own message is not settled yet, with the lock held, which
  // they let go meanwhile.
  void Lead(Lock& lock, const Message& own, const Limit& limit);
  void SendWaiting(Lock& lock);
  bool Receive(Lock& lock, Instant deadline);  // whether anything came until then
  void EndStream(Lock& lock);
  void DropStream(Lock& lock);
  void WakeSettled(Lock& lock);

  // By the one who leads.
  bool IsStuck(std::chrono::nanoseconds waited) const;
  Verdict Judge(const Message& message, const v1::StreamCheckVisibilityResponse& response) const;

  v1::ItemService::Stub& stub_;
  const Options options_;
  const AskAlone ask_alone_;

  mutable std::mutex mutex_;
  // All guarded by mutex_.
  bool led_ = false;
  std::vector<MessagePtr> waiting_;
  size_t checks_waiting_ = 0;
  absl::flat_hash_map<std::string, MessagePtr> open_;  // the last of each container in waiting_
  bool alone_for_good_ = false;
  Instant alone_until_ = Instant::min();

  // All for the one who leads.
  std::unique_ptr<CheckStream> stream_;
  std::deque<MessagePtr> under_way_;  // sent and not yet answered, oldest first
  Instant last_progress_;             // what is under way was sent, or something of it answered
  std::vector<MessagePtr> settled_;   // and their callers not yet woken
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CHECKS_SHARED_CHECKS_H_
