#ifndef TTL_CLIENT_POSTGRES_SQL_STATED_ZONE_H_
#define TTL_CLIENT_POSTGRES_SQL_STATED_ZONE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace ttl::postgres {

// The zone in which a timestamp without time zone says its times. The hour that daylight saving
// repeats may be either of two instants, and the one that it skips is read by the offset before or
// by that after: the later instant counts, here and in PostgreSQL's AT TIME ZONE, so that no row
// expires too early. Immutable.
class StatedZone {
 public:
  // `name`: of the time zone database, or an offset such as +02:00. INVALID_ARGUMENT says what
  // would be right; also where the machine has no time zone database.
  static absl::StatusOr<StatedZone> Load(const std::string& name);

  const std::string& name() const { return name_; }
  // Whether the offset has been the same at all times. An index on the column then serves: now is
  // taken into the zone, and not each row out of it.
  bool is_fixed() const { return is_fixed_; }

  // In seconds since 1970.
  int64_t InstantOf(absl::CivilSecond reading) const;

  // The SQL of `time` AT TIME ZONE this one, in parentheses: what is without time zone becomes an
  // instant, and the other way round. Immutable, and the same whatever the search path.
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
