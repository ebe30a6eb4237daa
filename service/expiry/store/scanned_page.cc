#include "service/expiry/store/scanned_page.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

absl::Status ValidateLength(absl::string_view field, size_t bytes, size_t most) {
  if (bytes <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, " has ", bytes, " bytes: must have at most ", most));
}

absl::Status Validate(const v1::Item& item, const ItemTimes& times, absl::Time now,
                      IllegalTtl illegal) {
  TTL_RETURN_IF_ERROR(
      ValidateLength("partition_key", item.partition_key().size(), kMaxPartitionKeyBytes));
  TTL_RETURN_IF_ERROR(ValidateLength("id", item.id().size(), kMaxIdBytes));
  TTL_RETURN_IF_ERROR(ValidateLength("etag", item.etag().size(), kMaxEtagBytes));
  TTL_RETURN_IF_ERROR(ValidateTs("ts", times.ts, now));
  if (illegal == IllegalTtl::kRefused) {
    TTL_RETURN_IF_ERROR(ValidateTtl("ttl", times.ttl));
    TTL_RETURN_IF_ERROR(ValidateExpireAt("expire_at", times.expire_at));
  }
  if (item.size_bytes() >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("size_bytes is ", item.size_bytes(), ": must be 0 (not known) or more"));
}

ItemVersion ToVersion(const v1::Item& item) {
  ItemVersion version;
  version.times.ts = item.ts();
  if (item.has_ttl()) version.times.ttl = item.ttl();
  if (item.has_expire_at()) version.times.expire_at = item.expire_at();
  version.etag = item.etag();
  if (item.has_sequence()) version.sequence = item.sequence();
  version.size_bytes = item.size_bytes();
  return version;
}

// Checks the message as a whole, without its items.
absl::Status ValidateMessage(const v1::ScanItemsResponse& response, const std::string& page_token) {
  if (response.items_size() > kMaxScannedItems) {
    return MakeError(Reason::kStoreAnswerInvalid,
                     absl::StrCat("the store's scan gave ", response.items_size(),
                                  " items in a message: must be at most ", kMaxScannedItems));
  }
  if (response.next_page_token().size() > kMaxScanTokenBytes) {
    return MakeError(
        Reason::kStoreAnswerInvalid,
        absl::StrCat("the store's scan gave a token of ", response.next_page_token().size(),
                     " bytes: must be at most ", kMaxScanTokenBytes));
  }
  if (!page_token.empty() && response.next_page_token() == page_token) {
    return MakeError(
        Reason::kStoreAnswerInvalid,
        "the store's scan returned the page_token of its request as next_page_token: it would "
        "never "
        "end");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ScannedPage> ReadScannedPage(const std::string& container,
                                            const v1::ScanItemsResponse& response,
                                            const std::string& page_token, absl::Time now,
                                            IllegalTtl illegal) {
  TTL_RETURN_IF_ERROR(ValidateMessage(response, page_token));
  ScannedPage page;
  page.next_page_token = response.next_page_token();
  for (const v1::Item& item : response.items()) {
    ItemReport report{{item.partition_key(), item.id()}, ToVersion(item)};
    const absl::Status valid = Validate(item, report.version.times, now, illegal);
    if (valid.ok()) {
      page.items.push_back(std::move(report));
      continue;
    }
    // Truncated, so that samples stay small.
    report.key.partition_key.resize(std::min(report.key.partition_key.size(), size_t{64}));
    report.key.id.resize(std::min(report.key.id.size(), size_t{64}));
    report.version.etag.resize(std::min(report.version.etag.size(), kMaxEtagBytes));
    page.impossible.push_back({Difference::kInvalid, container, std::move(report.key),
                               std::move(report.version), std::nullopt,
                               std::string(valid.message())});
  }
  return page;
}

}  // namespace ttl
