#include "client/ttlctl/text/holds/placed_hold_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/key_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/shell_word.h"
#include "service/base/time_text.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

std::string KeyOrQuotes(const std::string& key) { return key.empty() ? "\"\"" : KeyToText(key); }

std::string EndText(const v1::Hold& hold) {
  return hold.has_until() ? TimeText(ToTime(hold.until())) : "released";
}

// For a column: a partition key may be too long for one.
std::string BriefScope(const v1::Hold& hold) {
  return hold.has_partition_key() ? "a partition" : HoldScopeText(hold);
}

std::string CountedHolds(int64_t holds) {
  return absl::StrCat(FormatCount(holds), holds == 1 ? " hold" : " holds");
}

}  // namespace

std::string HoldScopeText(const v1::Hold& hold) {
  switch (hold.scope_case()) {
    case v1::Hold::kAllItems:
      return "all items";
    case v1::Hold::kPartitionKey:
      return absl::StrCat("partition key ", KeyOrQuotes(hold.partition_key()));
    case v1::Hold::kKeyCount:
      return absl::StrCat(FormatCount(hold.key_count()), hold.key_count() == 1 ? " key" : " keys");
    default:
      return "a scope newer than this ttlctl";
  }
}

std::string PlacedHoldText(const v1::Hold& hold) {
  return FormatFields({{"hold", hold.hold_id()},
                       {"container", hold.container()},
                       {"covers", HoldScopeText(hold)},
                       {"until", EndText(hold)},
                       {"reason", OneLine(hold.reason())},
                       {"author", hold.author()},
                       {"placed", TimeText(ToTime(hold.create_time()))}});
}

std::string ItemHoldsText(const v1::ExplainItemResponse& response) {
  std::string text;
  for (const v1::Hold& hold : response.item_holds()) {
    absl::StrAppend(&text, hold.hold_id(), " (", HoldScopeText(hold), "), until ", EndText(hold),
                    ": ", OneLine(hold.reason()), "\n");
  }
  const v1::Hold& first = response.item_holds(0);
  return absl::StrCat(text, "ttlctl holds release ",
                      IdArguments({first.container(), first.hold_id()}), " ends the first");
}

std::string HoldCountsText(const std::string& container, const v1::HoldCounts& counts) {
  std::string text = CountedHolds(counts.holds());
  if (counts.on_all_items() > 0) {
    absl::StrAppend(&text, ", ", FormatCount(counts.on_all_items()), " on all items");
  }
  if (counts.items_set_aside() > 0) {
    absl::StrAppend(&text, "; ", FormatCount(counts.items_set_aside()), " due items set aside");
  }
  if (counts.ending() > 0) {
    absl::StrAppend(&text, "; items of ", FormatCount(counts.ending()),
                    " that ended are being put back");
  }
  return absl::StrCat(text, "\nttlctl holds list ", IdArguments({container}), " shows them");
}

Table PlacedHoldTable() { return Table({"CONTAINER / HOLD", "COVERS", "UNTIL", "REASON"}); }

void AddPlacedHoldRow(const v1::Hold& hold, Table& table) {
  const std::string partition =
      hold.has_partition_key() ? absl::StrCat(HoldScopeText(hold), "; ") : std::string();
  table.AddRow({absl::StrCat(hold.container(), " / ", hold.hold_id()), BriefScope(hold),
                EndText(hold), absl::StrCat(partition, hold.reason())});
}

Table HeldKeyTable() { return Table({"PARTITION KEY", "ID"}); }

void AddHeldKeyRow(const v1::HeldKey& key, Table& table) {
  table.AddRow({KeyOrQuotes(key.partition_key()), KeyOrQuotes(key.id())});
}

std::string PlaceHoldResultText(v1::PlaceHoldResult result) {
  switch (result) {
    case v1::PLACE_HOLD_RESULT_HELD:
      return "held";
    case v1::PLACE_HOLD_RESULT_NOT_TRACKED:
      return "not tracked";
    case v1::PLACE_HOLD_RESULT_ALREADY_DELETED:
      return "already deleted";
    default:
      return absl::StrCat("result ", static_cast<int>(result), " (newer than this ttlctl)");
  }
}

}  // namespace ttl
