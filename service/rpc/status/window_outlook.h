#ifndef TTL_SERVICE_RPC_STATUS_WINDOW_OUTLOOK_H_
#define TTL_SERVICE_RPC_STATUS_WINDOW_OUTLOOK_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/delete_rates.h"
#include "service/core/windows/window_view.h"
#include "service/storage/storage.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

// What the windows of a container let be deleted in the next week, beside what has to be.
struct WindowOutlook {
  static constexpr absl::Duration kAhead = absl::Hours(7 * 24);

  std::optional<int64_t> deletable_items;  // absent: no limit
  int64_t due_items = 0;                   // now, and within the week if nothing is written

  bool Suffices() const { return !deletable_items.has_value() || *deletable_items >= due_items; }
};

// REQUIRES: the container has windows. Its cost does not depend on the number of items.
WindowOutlook ComputeWindowOutlook(Storage& storage, const Container& container,
                                   const DeleteRates& rates, absl::Time now);

// REQUIRES: the container has windows.
v1::WindowStatus MakeWindowStatus(const Container& container, const WindowView& view,
                                  const WindowOutlook& outlook);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_WINDOW_OUTLOOK_H_
