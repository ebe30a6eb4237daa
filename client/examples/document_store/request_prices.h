#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_REQUEST_PRICES_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_REQUEST_PRICES_H_

#include <functional>
#include <string>

// The cost of the store's work in request units. A real store would measure it.
namespace documentstore {

inline constexpr double kReadUnits = 1;   // a request that reads, or a document compared
inline constexpr double kWriteUnits = 5;  // a document written or deleted

// Called with the request units that a request has used, whether it succeeded or not. Must not
// block, and must be thread-safe.
using UsageSink = std::function<void(const std::string& container, double request_units)>;

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_REQUEST_PRICES_H_
