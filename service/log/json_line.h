#ifndef TTL_SERVICE_LOG_JSON_LINE_H_
#define TTL_SERVICE_LOG_JSON_LINE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// `text` as a JSON string, in quotes. If it is not UTF-8, its bytes are escaped as \xHH first.
std::string JsonString(absl::string_view text);

// The fields of a log event, "KEY=VALUE KEY=VALUE ...", as members of a JSON object that has "ts",
// "level" and "msg" already: `"KEY":VALUE,"KEY":VALUE`. A value in quotes becomes a string, a value
// in braces an object of its fields, several of these a list, a number or boolean stays as it is,
// the words none and absent become null, and anything else becomes a string. The result is valid
// JSON for any input. A key that the object has already gets a "_" at its end.
std::string JsonMembers(absl::string_view fields);

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_JSON_LINE_H_
