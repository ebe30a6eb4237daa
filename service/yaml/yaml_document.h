#ifndef TTL_SERVICE_YAML_YAML_DOCUMENT_H_
#define TTL_SERVICE_YAML_YAML_DOCUMENT_H_

#include <yaml-cpp/yaml.h>

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl {

// Parses `text`, which must be a single document, passes it to `read`, and returns the status of
// `read`, in which yaml-cpp may throw. INVALID_ARGUMENT, "BEFORE_LINE" LINE ": ...", if the text is
// not YAML or has a second document. An empty text is a null document.
absl::Status ReadYamlDocument(const std::string& text, absl::string_view before_line,
                              absl::FunctionRef<absl::Status(const YAML::Node&)> read);

}  // namespace ttl

#endif  // TTL_SERVICE_YAML_YAML_DOCUMENT_H_
