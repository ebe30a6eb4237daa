#ifndef TTL_SERVICE_STORAGE_VERIFIER_H_
#define TTL_SERVICE_STORAGE_VERIFIER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "service/storage/catalog.h"
#include "service/storage/database.h"

namespace ttl {

// Reads everything stored while the database is in use, step by step, and checks it: that
// every block and record can be read, and that items and index entries agree. What seems
// wrong is looked at again, for it may have changed meanwhile. For one thread.
class Verifier {
 public:
  // Problems beyond these are only counted.
  static constexpr size_t kMaxProblems = 100;

  // Both must outlive this.
  Verifier(const Database& database, const Catalog& catalog)
      : database_(database), catalog_(catalog) {}

  // Looks at some thousand records. False if there are no more.
  bool Step();

  int64_t records() const { return records_; }
  int64_t problems() const { return problem_count_; }
  // Those found since the last call, one sentence each.
  std::vector<std::string> TakeProblems();

 private:
  struct Living;
  void Check(const Living& living, absl::string_view key, absl::string_view value);
  void CheckItem(const Living& living, const std::string& key, const std::string& value);
  void CheckEntry(const Living& living, const std::string& key);
  void SkipDamage(absl::string_view error);
  void Add(std::string problem);

  const Database& database_;
  const Catalog& catalog_;
  std::string position_;
  std::string damaged_at_;  // where reading failed last
  int64_t records_ = 0;
  int64_t problem_count_ = 0;
  size_t told_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_VERIFIER_H_
