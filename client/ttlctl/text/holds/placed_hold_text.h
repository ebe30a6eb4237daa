#ifndef TTL_CLIENT_TTLCTL_TEXT_HOLDS_PLACED_HOLD_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_HOLDS_PLACED_HOLD_TEXT_H_

#include <string>

#include "client/ttlctl/text/table.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/hold.pb.h"
#include "ttl/v1/hold_service.pb.h"

// Holds (HoldService) as text; the reasons that hold deletes back are in hold_text.h. Pure
// functions.
namespace ttl {

// Lines of "label  value".
std::string PlacedHoldText(const v1::Hold& hold);

// "all items", "1,234 keys", "partition key p1".
std::string HoldScopeText(const v1::Hold& hold);

// For the field of an item: one line per hold, and the command that ends one.
std::string ItemHoldsText(const v1::ExplainItemResponse& response);

// For the field of a container: its holds, and the command that lists them.
std::string HoldCountsText(const std::string& container, const v1::HoldCounts& counts);

// A table of holds.
Table PlacedHoldTable();
void AddPlacedHoldRow(const v1::Hold& hold, Table& table);

// A table of the keys of a hold.
Table HeldKeyTable();
void AddHeldKeyRow(const v1::HeldKey& key, Table& table);

// "held", "not tracked", "already deleted".
std::string PlaceHoldResultText(v1::PlaceHoldResult result);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_HOLDS_PLACED_HOLD_TEXT_H_
