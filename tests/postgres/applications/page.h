#ifndef TTL_TESTS_POSTGRES_APPLICATIONS_PAGE_H_
#define TTL_TESTS_POSTGRES_APPLICATIONS_PAGE_H_

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ttl {

// The configuration that applications.md prints for an application, so that what is tested is what
// people copy; empty if it has none.
inline std::string PrintedConfiguration(const std::string& application) {
  std::ifstream page(APPLICATIONS_PAGE);
  std::string configuration;
  bool is_section = false;
  for (std::string line; std::getline(page, line);) {
    if (absl::StartsWith(line, "## ")) is_section = line == absl::StrCat("## ", application);
    if (is_section && absl::StartsWith(line, "    ")) {
      absl::StrAppend(&configuration, line.substr(4), "\n");
    }
  }
  return configuration;
}

}  // namespace ttl

#endif  // TTL_TESTS_POSTGRES_APPLICATIONS_PAGE_H_
