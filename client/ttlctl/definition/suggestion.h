#ifndef TTL_CLIENT_TTLCTL_DEFINITION_SUGGESTION_H_
#define TTL_CLIENT_TTLCTL_DEFINITION_SUGGESTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ttl {

// The words that were probably meant by `word`, the nearest ones, at most two; none if none is
// near. Near is what differs by few letters (one in three of the shorter, at least one) or begins
// with `word`. Two exchanged neighbours are one difference. Pure.
std::vector<std::string> NearestWords(absl::string_view word,
                                      const std::vector<std::string>& words);

// `; did you mean "status"?`, or empty if no word is near. Pure.
std::string DidYouMean(absl::string_view word, const std::vector<std::string>& words);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_DEFINITION_SUGGESTION_H_
