#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_LOCAL_CHECKS_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_LOCAL_CHECKS_H_

#include <optional>

#include "ttl/local_evaluator.h"
#include "ttl/v1/item_service.pb.h"

namespace documentstore {

// Answers checks that carry ts and ttl without a call, like the sidecar but without expire times.
// Absent unless `evaluator` knows the answer to each of them; then the sidecar has to be asked.
std::optional<ttl::v1::CheckVisibilityResponse> CheckLocally(
    ttl::LocalEvaluator& evaluator, const ttl::v1::CheckVisibilityRequest& request);

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_LOCAL_CHECKS_H_
