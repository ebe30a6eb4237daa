#ifndef TTL_SERVICE_STORAGE_UPKEEP_VERIFIER_H_
#define TTL_SERVICE_STORAGE_UPKEEP_VERIFIER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/engine/database.h"

namespace ttl {

// Reads and checks everything stored while the database is in use, step by step: every block and
// record must be readable, and items and index entries must agree. A record that seems wrong is
// read again, at once and later, because it may have changed since it was read. Never waits. For
// one thread.
class Verifier {
 public:
  // Problems beyond these are only counted.
  static constexpr size_t kMaxProblems = 100;

  // What to do after a step.
  enum class Next {
    kStep,   // the next one
    kPause,  // a pause of kPause, then the next one
    kEnd,    // nothing: all was looked at
  };

  // A change is visible to readers a moment after it is in the database.
  static constexpr absl::Duration kPause = absl::Milliseconds(50);

  // Both must outlive this.
  Verifier(const Database& database, const Catalog& catalog)
      : database_(database), catalog_(catalog) {}

  // Checks some thousand records.
  Next Step();

  int64_t records() const { return records_; }
  int64_t problems() const { return problem_count_; }
  // The problems found since the last call, one sentence each.
  std::vector<std::string> TakeProblems();

 private:
  // A record as it was read last, and its problem. UNAVAILABLE: there may be none, but the record
  // changed while it was checked.
  struct Record {
    std::string key;
    std::optional<std::string> value;  // absent: it is gone
    absl::Status status;
  };
  using Records = std::vector<Record>;

  bool Read(Records& records);
  Records LookAt(Records records);
  absl::Status Look(Record& record);
  absl::Status LookAtItem(Record& record) const;
  absl::Status LookAtUnowned(Record& record) const;
  absl::Status LookAtHold(Record& record) const;
  absl::Status LookAtHoldKey(Record& record) const;
  absl::Status LookAtEntry(const Record& record);
  absl::Status LookAtFeedRecord(Record& record);
  ContainerPtr OwnerOf(uint64_t number);
  void LearnOwners();
  void SkipDamage(absl::string_view error);
  void Add(std::string problem);

  const Database& database_;
  const Catalog& catalog_;
  // Numbers of containers by those of their indexes and feeds.
  absl::flat_hash_map<uint64_t, uint64_t> owners_;
  bool knows_owners_ = false;  // as of this step
  std::string position_;
  std::string damaged_at_;  // where reading failed last
  bool more_ = true;
  Records suspects_;  // to be looked at again
  int looks_ = 0;     // at them
  int64_t records_ = 0;
  int64_t problem_count_ = 0;
  size_t told_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_VERIFIER_H_
