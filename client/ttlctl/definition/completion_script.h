#ifndef TTL_CLIENT_TTLCTL_DEFINITION_COMPLETION_SCRIPT_H_
#define TTL_CLIENT_TTLCTL_DEFINITION_COMPLETION_SCRIPT_H_

#include "absl/strings/string_view.h"

namespace ttl {

// The first argument of a call that answers a completion script: the words of the command line
// follow, the last being that which is completed. It prints one choice a line, with a tab before
// its description; or ":files" alone, if a path is to be completed.
inline constexpr char kCompleteCall[] = "__complete";

// The shells that there is a script for, as the type of an option.
inline constexpr char kShells[] = "bash|zsh|fish";

// The script that makes the shell complete command lines of ttlctl; empty for another shell. It
// asks ttlctl itself for the choices, and so knows nothing of the commands. Pure.
absl::string_view CompletionScript(absl::string_view shell);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_DEFINITION_COMPLETION_SCRIPT_H_
