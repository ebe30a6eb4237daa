#include "client/examples/document_store/local_checks.h"

#include <vector>

#include "absl/types/span.h"
#include "client/examples/document_store/proto_time.h"

namespace documentstore {

std::optional<ttl::v1::CheckVisibilityResponse> CheckLocally(
    ttl::LocalEvaluator& evaluator, const ttl::v1::CheckVisibilityRequest& request) {
  std::vector<ttl::JudgedItem> items;
  for (const ttl::v1::VisibilityCheck& check : request.checks()) {
    if (!check.has_ts()) return std::nullopt;
    items.push_back({check.ts()});
    if (check.has_ttl()) items.back().ttl = check.ttl();
    if (check.has_expire_at()) items.back().expire_at = check.expire_at();
  }
  std::vector<ttl::LocalVerdict> verdicts(items.size(), ttl::LocalVerdict::kUnknown);
  const absl::Time judged_at =
      evaluator.Judge(evaluator.Find(request.container()), items, absl::MakeSpan(verdicts));
  ttl::v1::CheckVisibilityResponse response;
  for (const ttl::LocalVerdict verdict : verdicts) {
    if (verdict == ttl::LocalVerdict::kUnknown) return std::nullopt;
    response.add_visibilities(verdict == ttl::LocalVerdict::kExpired ? ttl::v1::VISIBILITY_EXPIRED
                                                                     : ttl::v1::VISIBILITY_VISIBLE);
  }
  *response.mutable_judged_at() = ToProto(judged_at);
  return response;
}

}  // namespace documentstore
