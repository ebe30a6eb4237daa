#ifndef TTL_CLIENT_TTLCTL_TEXT_SHELL_WORD_H_
#define TTL_CLIENT_TTLCTL_TEXT_SHELL_WORD_H_

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// Parts of command lines for bash and zsh, which users copy. Pure functions.

// `text` as one word: as it is if the shell has nothing to interpret in it, else quoted, with
// unprintable characters as \xHH.
std::string ShellWord(absl::string_view text);

// Ids as the last arguments of a command of ttlctl, after "--" if one of them begins with "-".
std::string IdArguments(std::initializer_list<absl::string_view> ids);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_SHELL_WORD_H_
