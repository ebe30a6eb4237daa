#include "client/postgres/store/deletes/delete_pause.h"

#include <algorithm>

namespace ttl::postgres {

absl::Duration DeletePause(absl::Duration took) {
  return std::clamp(took * (1 / kDeleteShare - 1), absl::ZeroDuration(), kMaxDeletePause);
}

}  // namespace ttl::postgres
