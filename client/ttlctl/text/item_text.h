#ifndef TTL_CLIENT_TTLCTL_TEXT_ITEM_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_ITEM_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/ttlctl/text/table.h"
#include "ttl/touch_answer.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/item.pb.h"
#include "ttl/v1/item_service.pb.h"
#include "ttl/visibility_answer.h"

namespace ttl {

// Human-readable text of items. Pure functions.

// "visible", "expired" or "untracked".
absl::string_view VisibilityText(v1::Visibility visibility);

// "id", or "partition key / id" if there is a partition key.
std::string ItemKeyText(absl::string_view partition_key, absl::string_view id);

// A table of answers. REQUIRES: `checks` and `answers` have the same length.
std::string AnswersText(const std::vector<v1::VisibilityCheck>& checks,
                        const std::vector<VisibilityAnswer>& answers);

// A table of touches. REQUIRES: `keys` and `answers` have the same length.
std::string TouchesText(const std::vector<v1::ItemKey>& keys,
                        const std::vector<TouchAnswer>& answers);

// An empty table for AddItemRow.
Table ItemTable();
void AddItemRow(const v1::ItemView& view, Table& table);

// The response of ExplainItem, a line per field.
std::string ExplanationText(absl::string_view container, const v1::ExplainItemResponse& response);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_ITEM_TEXT_H_
