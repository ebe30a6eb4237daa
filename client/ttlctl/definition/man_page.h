#ifndef TTL_CLIENT_TTLCTL_DEFINITION_MAN_PAGE_H_
#define TTL_CLIENT_TTLCTL_DEFINITION_MAN_PAGE_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"

namespace ttl {

// The manual page ttlctl(1) in the macros of man(7): all commands and options of the definition,
// the environment, and the exit codes. `version`: "ttlctl 1.2". Pure.
std::string ManPage(const CLI::App& root, absl::string_view version);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_DEFINITION_MAN_PAGE_H_
