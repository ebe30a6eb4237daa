#ifndef TTL_CLIENT_TTLCTL_TEXT_YAML_YAML_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_YAML_YAML_TEXT_H_

#include <string>

#include "nlohmann/json.hpp"

namespace ttl {

// `value` as a YAML document in block style, which readers of YAML 1.1 and of 1.2 read back as
// exactly `value`: text that either could take for something else is in double quotes. Ends with a
// newline. REQUIRES: texts are UTF-8, and numbers are finite. Pure.
std::string ToYaml(const nlohmann::ordered_json& value);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_YAML_YAML_TEXT_H_
