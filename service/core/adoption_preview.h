#ifndef TTL_SERVICE_CORE_ADOPTION_PREVIEW_H_
#define TTL_SERVICE_CORE_ADOPTION_PREVIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "service/core/container.h"

namespace ttl {

// The effect that creating a container would have on the items of the primary store.
struct AdoptionPreview {
  int64_t scanned = 0;
  int64_t expired = 0;  // would be hidden
  int64_t due = 0;      // would be deleted, after one grace
  int64_t invalid = 0;  // could not be tracked
  std::optional<int64_t> estimated;
  bool finished = false;
};

// Reads some more items of the store on the calling thread and adds them to the preview; sets
// `finished` after the last. Returns the error of the store.
using AdoptionPreviewStep = absl::AnyInvocable<absl::Status(AdoptionPreview&)>;

// Starts a preview for a container with this id and these settings.
using AdoptionPreviewer = std::function<AdoptionPreviewStep(std::string, ContainerSettings)>;

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ADOPTION_PREVIEW_H_
