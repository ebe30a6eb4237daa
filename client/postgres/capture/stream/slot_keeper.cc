#include "client/postgres/capture/stream/slot_keeper.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "client/postgres/row/lsn.h"
#include "client/postgres/sql/connect/connection.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

// A walsender soon notices that its client is gone.
constexpr std::chrono::seconds kDropDeadline(5);

}  // namespace

absl::StatusOr<uint64_t> SlotKeeper::Open(PatientQuery& database,
                                          const std::function<absl::Status()>& start_over) {
  TTL_ASSIGN_OR_RETURN(auto slot, FindSlot(database, config_.slot));
  if (slot.has_value()) {
    TTL_RETURN_IF_ERROR(CheckSlot(*slot, config_.slot));
    if (!slot->is_lost && !is_useless_) return slot->confirmed;
    spdlog::error("replication slot \"{}\" {}; it is dropped, and all tables are read again",
                  config_.slot,
                  slot->is_lost ? "has lost WAL that it needs (max_slot_wal_keep_size?)"
                                : "is older than the publication");
    TTL_RETURN_IF_ERROR(Drop(database));
  }
  return Create(database, start_over);
}

absl::StatusOr<uint64_t> SlotKeeper::Create(PatientQuery& database,
                                            const std::function<absl::Status()>& start_over) {
  // Call start_over() before the slot exists: its changes must not pass for all changes.
  TTL_RETURN_IF_ERROR(start_over());
  // Creating the slot waits for other transactions, however long they take.
  const auto set_timeout = [&](const char* value) {
    return database.Query(absl::StrCat("SET lock_timeout = ", value)).status();
  };
  TTL_RETURN_IF_ERROR(set_timeout("0"));
  TTL_ASSIGN_OR_RETURN(const auto start, CreateSlot(database, config_.slot));
  TTL_RETURN_IF_ERROR(set_timeout("'2s'"));
  spdlog::info("replication slot \"{}\" is made, at {}", config_.slot, FormatLsn(start));
  is_useless_ = false;
  return start;
}

absl::Status SlotKeeper::Check(PatientQuery& database) {
  TTL_ASSIGN_OR_RETURN(const auto slot, FindSlot(database, config_.slot));
  retained_bytes_.reset();
  if (!slot.has_value()) return absl::OkStatus();
  retained_bytes_ = slot->retained_bytes;
  if (config_.max_slot_bytes <= 0 || *retained_bytes_ <= config_.max_slot_bytes) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("replication slot \"", config_.slot, "\" keeps ", *retained_bytes_,
                   " bytes of WAL, more than max_slot_bytes (", config_.max_slot_bytes,
                   "): it is dropped before the disk is full, and all tables are read again"));
}

absl::Status SlotKeeper::Drop(PatientQuery& database) {
  const auto deadline = std::chrono::steady_clock::now() + kDropDeadline;
  absl::Status status = DropSlot(database, config_.slot);
  // object_in_use
  while (SqlState(status) == "55006" && std::chrono::steady_clock::now() < deadline) {
    TTL_RETURN_IF_ERROR(database.Query("SELECT pg_catalog.pg_sleep(0.05)").status());
    status = DropSlot(database, config_.slot);
  }
  TTL_RETURN_IF_ERROR(status);
  retained_bytes_.reset();
  return status;
}

}  // namespace ttl::postgres
