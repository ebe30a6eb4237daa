#ifndef TTL_SERVICE_EXPIRY_SWEEP_DELETE_OUTCOMES_H_
#define TTL_SERVICE_EXPIRY_SWEEP_DELETE_OUTCOMES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/state/sweep_board.h"
#include "service/expiry/moment.h"
#include "service/expiry/pace/container_pace.h"
#include "service/expiry/store/store_answers.h"
#include "service/expiry/store/store_watch.h"
#include "service/expiry/sweep/delete_calls.h"
#include "service/expiry/sweep/suspects.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/storage.h"

namespace ttl {

// Takes in what became of a batch of deletes: commits the outcomes, counts them, and tells pace,
// suspects and the watch over the store what they say about the store and about single items.
// For one thread.
class DeleteOutcomes {
 public:
  // All must outlive this.
  DeleteOutcomes(Storage& storage, SweepBoard& board, StoreWatch& store)
      : storage_(storage), board_(board), store_(store) {}

  // What is kept of the container that a call was for.
  struct Kept {
    ContainerPace& pace;
    Suspects& suspects;
  };

  // `call` has ended. Returns whether the fate of its deletes is unknown, so that the store may
  // still carry them out until their not_after. Waits for the commit.
  bool Take(const DeleteCall& call, const Kept& kept, const Moment& now);

 private:
  void TakeResponse(const DeleteCall& call, const Kept& kept, const Moment& now);
  void TakeError(const DeleteCall& call, const absl::Status& error, const Kept& kept,
                 const Moment& now);
  void TakeAnswers(const Container& container, StoreAnswers answers, ContainerPace& pace,
                   const Moment& now);
  void Commit(const Container& container, std::vector<DeleteReport> reports, ContainerPace& pace,
              const Moment& now);

  Storage& storage_;
  SweepBoard& board_;
  StoreWatch& store_;
  TroubleLog log_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_DELETE_OUTCOMES_H_
