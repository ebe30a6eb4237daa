#include "client/postgres/row/transaction_snapshot.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ttl::postgres {

bool TransactionSnapshot::Sees(uint64_t xid) const {
  if (xid < xmin) return true;
  if (xid >= xmax) return false;
  return !std::binary_search(in_progress.begin(), in_progress.end(), xid);
}

absl::StatusOr<TransactionSnapshot> ParseTransactionSnapshot(absl::string_view text) {
  const auto refuse = [text] {
    return absl::DataLossError(
        absl::StrCat("\"", text, "\" is not a snapshot such as 10:20:10,14"));
  };
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  TransactionSnapshot snapshot;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &snapshot.xmin) ||
      !absl::SimpleAtoi(parts[1], &snapshot.xmax)) {
    return refuse();
  }
  for (const absl::string_view number : absl::StrSplit(parts[2], ',', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(number, &snapshot.in_progress.emplace_back())) return refuse();
  }
  std::sort(snapshot.in_progress.begin(), snapshot.in_progress.end());
  return snapshot;
}

}  // namespace ttl::postgres
