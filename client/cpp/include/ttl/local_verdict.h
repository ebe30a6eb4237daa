#ifndef TTL_LOCAL_VERDICT_H_
#define TTL_LOCAL_VERDICT_H_

namespace ttl {

// The verdict of a LocalEvaluator on an item.
enum class LocalVerdict {
  kVisible,
  kExpired,
  kUnknown,  // ask the sidecar: TtlClient::CheckItem, with ts and ttl of the item
};

}  // namespace ttl

#endif  // TTL_LOCAL_VERDICT_H_
