#include "deploy/quickstart/report.h"

#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ttl::quickstart {

void Report::Heading(absl::string_view text) {
  std::cout << "\n" << (colour_ ? "\033[1m" : "") << text << (colour_ ? "\033[0m" : "") << "\n";
}

void Report::Line(absl::string_view text) {
  text = absl::StripTrailingAsciiWhitespace(text);
  if (!text.empty()) std::cout << "  " << text;
  std::cout << std::endl;
}

void Report::Command(absl::string_view command) {
  std::cout << "  " << (colour_ ? "\033[36m" : "") << "$ " << command << (colour_ ? "\033[0m" : "")
            << std::endl;
}

bool Report::Expect(bool holds, absl::string_view claim) {
  ++checked_;
  if (holds) return true;
  ++wrong_;
  Line(absl::StrCat(Verdict(false), ": ", claim));
  return false;
}

absl::string_view Report::Verdict(bool holds) const {
  if (!colour_) return holds ? "ok" : "WRONG";
  return holds ? "\033[32mok\033[0m" : "\033[1;31mWRONG\033[0m";
}

}  // namespace ttl::quickstart
