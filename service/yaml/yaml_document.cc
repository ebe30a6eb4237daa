#include "service/yaml/yaml_document.h"

#include <yaml-cpp/eventhandler.h>

#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

// Counts the documents of a text, and records where the last one begins.
class DocumentCounter : public YAML::EventHandler {
 public:
  bool has_second() const { return documents_ > 1; }
  int last_line() const { return last_.line + 1; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    ++documents_;
    last_ = mark;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  int documents_ = 0;
  YAML::Mark last_;
};

// Parses at most two documents: for some texts, such as one that begins with a comma, yaml-cpp
// would produce empty documents for ever.
absl::Status ExpectOneDocument(const std::string& text, absl::string_view before_line) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentCounter counter;
  while (!counter.has_second() && parser.HandleNextDocument(counter)) continue;
  if (!counter.has_second()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(before_line, counter.last_line(), ": a second document; give one only"));
}

}  // namespace

absl::Status ReadYamlDocument(const std::string& text, absl::string_view before_line,
                              absl::FunctionRef<absl::Status(const YAML::Node&)> read) {
  try {
    if (absl::Status one = ExpectOneDocument(text, before_line); !one.ok()) return one;
    return read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(
        before_line, error.mark.line + 1, ": not YAML: ", absl::Utf8SafeCEscape(error.msg)));
  }
}

}  // namespace ttl
