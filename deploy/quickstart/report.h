#ifndef TTL_DEPLOY_QUICKSTART_REPORT_H_
#define TTL_DEPLOY_QUICKSTART_REPORT_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace ttl::quickstart {

// What the quick start prints, and the tally of what it has checked: nothing is
// claimed that was not expected here first. Not thread-safe.
class Report {
 public:
  // With colour, headings and verdicts are set off by terminal escapes.
  explicit Report(bool colour) : colour_(colour) {}

  void Heading(absl::string_view text);
  void Line(absl::string_view text = "");

  // A line as a user would type it.
  void Command(absl::string_view command);

  // Counts one check, and prints `claim` as wrong if it does not hold.
  // Returns `holds`.
  bool Expect(bool holds, absl::string_view claim);

  // "ok" or "WRONG", in colour.
  absl::string_view Verdict(bool holds) const;

  int64_t checked() const { return checked_; }
  int64_t wrong() const { return wrong_; }

 private:
  const bool colour_;
  int64_t checked_ = 0;
  int64_t wrong_ = 0;
};

}  // namespace ttl::quickstart

#endif  // TTL_DEPLOY_QUICKSTART_REPORT_H_
