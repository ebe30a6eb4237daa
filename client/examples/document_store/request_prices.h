#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_REQUEST_PRICES_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_REQUEST_PRICES_H_

#include <functional>
#include <string>

// What the store takes for its work, in request units. A real store would measure.
namespace documentstore {

inline constexpr double kReadUnits = 1;   // a request that reads, or a document compared
inline constexpr double kWriteUnits = 5;  // a document written or deleted

// Told what every request has used of a container's throughput, whether it succeeded or
// not. Must not block, and may be called by many threads.
using UsageSink = std::function<void(const std::string& container, double request_units)>;

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_REQUEST_PRICES_H_
