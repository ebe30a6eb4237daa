#ifndef TTL_SERVICE_STORAGE_FORMAT_RECORD_CODEC_H_
#define TTL_SERVICE_STORAGE_FORMAT_RECORD_CODEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/core/container.h"
#include "service/core/guarded_clock.h"
#include "service/core/tally_view.h"
#include "service/storage/format/sidecar_facts.h"
#include "service/storage/format/stored_hold.h"
#include "service/storage/format/stored_item.h"

// Encodes and decodes the values of the database: messages of ttl.storage.v1 to and from the types
// that the code uses. Decoding returns DATA_LOSS for damaged bytes, and never turns damage into a
// value that could make an item expire. Pure functions.
namespace ttl {

std::string EncodeItem(const StoredItem& item);
absl::StatusOr<StoredItem> DecodeStoredItem(absl::string_view bytes);

std::string EncodeContainer(const Container& container);
absl::StatusOr<Container> DecodeContainer(uint64_t number, absl::string_view bytes);

// Without the id of the container.
std::string EncodeHold(const StoredHold& stored);
absl::StatusOr<StoredHold> DecodeHold(uint64_t container, uint64_t number, absl::string_view bytes);

// The numbers of the holds that name a key.
std::string EncodeKeyHolds(const std::vector<uint64_t>& holds);
absl::StatusOr<std::vector<uint64_t>> DecodeKeyHolds(absl::string_view bytes);

// Never 0.
std::string EncodeHoldsEpoch(uint64_t epoch);
absl::StatusOr<uint64_t> DecodeHoldsEpoch(absl::string_view bytes);

std::string EncodePause(const Pause& pause);
absl::StatusOr<Pause> DecodePause(absl::string_view bytes);

std::string EncodeClockMemory(const ClockMemory& memory);
absl::StatusOr<ClockMemory> DecodeClockMemory(absl::string_view bytes);

// A purge record says what a deleted number was.
enum class PurgeKind { kIndex, kContainer, kFeed };
std::string EncodePurge(PurgeKind kind);
absl::StatusOr<PurgeKind> DecodePurge(absl::string_view bytes);

std::string EncodeStore(const StoredStore& store);
absl::StatusOr<StoredStore> DecodeStore(absl::string_view bytes);

// Why the store is in doubt; never empty.
std::string EncodeStoreDoubt(absl::string_view reason);
absl::StatusOr<std::string> DecodeStoreDoubt(absl::string_view bytes);

std::string EncodeDataDoubt(const DataDoubt& doubt);
absl::StatusOr<DataDoubt> DecodeDataDoubt(absl::string_view bytes);

std::string EncodeDeleteLimit(const StoredDeleteLimit& limit);
absl::StatusOr<StoredDeleteLimit> DecodeDeleteLimit(absl::string_view bytes);

// A deadline is positive.
std::string EncodeDeleteDeadline(absl::Duration deadline);
absl::StatusOr<absl::Duration> DecodeDeleteDeadline(absl::string_view bytes);

std::string EncodeSourcePosition(absl::string_view position);
absl::StatusOr<std::string> DecodeSourcePosition(absl::string_view bytes);

std::string EncodeTotals(const ContainerTotals& totals);
absl::StatusOr<ContainerTotals> DecodeTotals(absl::string_view bytes);

std::string EncodeAppliedEntry(absl::string_view entry);
absl::StatusOr<std::string> DecodeAppliedEntry(absl::string_view bytes);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_RECORD_CODEC_H_
