#ifndef TTL_SERVICE_CORE_WINDOWS_TIME_ZONE_H_
#define TTL_SERVICE_CORE_WINDOWS_TIME_ZONE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// Time zones of the IANA database, by name. The empty name is UTC, which needs no database.
// Thread-safe.
namespace ttl {

// What a message asks for.
inline constexpr char kRightTimeZone[] =
    "a name of the IANA time zone database, such as Europe/Berlin, or empty for UTC";

// Whether `name` can be the name of a time zone: letters, digits and "/_+-", at most 64 bytes,
// beginning with a letter, or empty. Pure.
bool IsTimeZoneName(absl::string_view name);

// `name` for a message, quoted and cut.
std::string ShownTimeZone(absl::string_view name);

// The zone; absent if the database of this machine does not have it or cannot be read. The database
// is that of the package tzdata, or the folder that the environment names in TZDIR. A zone that has
// been loaded stays loaded; one that was missing is looked for again.
std::optional<absl::TimeZone> FindTimeZone(const std::string& name);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_WINDOWS_TIME_ZONE_H_
