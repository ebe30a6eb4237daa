#ifndef TTL_CLIENT_POSTGRES_SQL_STATED_ZONE_H_
#define TTL_CLIENT_POSTGRES_SQL_STATED_ZONE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace ttl::postgres {

// Time zone of a timestamp without time zone. A local time in the hour that daylight saving repeats
// may be either of two instants, and one in the hour that it skips may use the offset before or
// after the change. The later instant is used, as by PostgreSQL's AT TIME ZONE, so that no row
// expires too early. Immutable.
class StatedZone {
 public:
  // `name` is a name in the time zone database, or an offset such as +02:00. INVALID_ARGUMENT
  // describes the allowed names, also if the machine has no time zone database.
  static absl::StatusOr<StatedZone> Load(const std::string& name);

  const std::string& name() const { return name_; }
  // Whether the offset never changes. An index on the column can then be used, since the current
  // time is converted into the zone, and not each row out of it.
  bool is_fixed() const { return is_fixed_; }

  // Returns seconds since 1970.
  int64_t InstantOf(absl::CivilSecond reading) const;

  // Returns the SQL of `time` AT TIME ZONE this zone, in parentheses: it converts a timestamp
  // without time zone to an instant, and vice versa. The expression is immutable and does not
  // depend on the search path.
  std::string At(absl::string_view time) const;

  friend bool operator==(const StatedZone&, const StatedZone&) = default;

 private:
  StatedZone(std::string name, absl::TimeZone zone);

  std::string name_;
  absl::TimeZone zone_;
  bool is_fixed_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_STATED_ZONE_H_
