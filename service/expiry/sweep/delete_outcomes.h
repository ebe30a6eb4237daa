#ifndef TTL_SERVICE_EXPIRY_SWEEP_DELETE_OUTCOMES_H_
#define TTL_SERVICE_EXPIRY_SWEEP_DELETE_OUTCOMES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/state/published_sweep.h"
#include "service/expiry/moment.h"
#include "service/expiry/pace/container_pace.h"
#include "service/expiry/store/store_answers.h"
#include "service/expiry/store/store_watch.h"
#include "service/expiry/sweep/delete_calls.h"
#include "service/expiry/sweep/suspects.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/storage.h"

namespace ttl {

// Handles the end of a DeleteItems call: commits the outcomes, counts them, and passes on what they
// say about the store (pace, StoreWatch) and about single items (Suspects). Not thread-safe.
class DeleteOutcomes {
 public:
  // All arguments must outlive this.
  DeleteOutcomes(Storage& storage, PublishedSweep& published, StoreWatch& store)
      : storage_(storage), published_(published), store_(store) {}

  // State that the sweeper keeps of the call's container.
  struct Kept {
    ContainerPace& pace;
    Suspects& suspects;
    bool& after_slow;  // as in the next DeleteCall
  };

  // Handles `call`, which has ended, and waits for the commit. Returns whether the outcome of its
  // deletes is unknown, so that the store may still carry them out until their not_after.
  bool Take(const DeleteCall& call, const Kept& kept, const Moment& now);

  // Takes the items with an expire_at out of `due` and retries them later, because the store does
  // not know expire_at. So they do not delay the other items. Returns their number. Waits for the
  // commit.
  int64_t PutOffExpireAt(const Container& container, std::vector<DueItem>& due, ContainerPace& pace,
                         const Moment& now);

  // Retries `items` later, because their holds cannot be read: `error`. So they do not delay the
  // other items. Returns their number. Waits for the commit.
  int64_t PutOffUnknown(const Container& container, const std::vector<DueItem>& items,
                        const absl::Status& error, ContainerPace& pace, const Moment& now);

 private:
  void PutOff(const Container& container, const std::vector<DueItem>& items,
              absl::string_view reason, ContainerPace& pace, const Moment& now);
  void TakeResponse(const DeleteCall& call, const Kept& kept, const Moment& now);
  // `took` is the time of a call that made the store count as slow.
  void TakeSlow(const DeleteCall& call, absl::Duration took, const Moment& now);
  void TakeOutOfTime(const DeleteCall& call, int64_t items, const Moment& now);
  void TakeError(const DeleteCall& call, const absl::Status& error, const Kept& kept,
                 const Moment& now);
  void TakeAnswers(const DeleteCall& call, StoreAnswers answers, ContainerPace& pace,
                   const Moment& now);
  void Commit(const Container& container, std::vector<DeleteReport> reports, ContainerPace& pace,
              const Moment& now);

  Storage& storage_;
  PublishedSweep& published_;
  StoreWatch& store_;
  TroubleLog log_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_DELETE_OUTCOMES_H_
