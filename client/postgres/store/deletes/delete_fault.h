#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_FAULT_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_FAULT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Classifies an error of a delete by its cause, which determines the reaction.
enum class DeleteFault {
  kRow,         // a row, or its constraints, triggers or data; others can be deleted
  kLock,        // a row that must be deleted with one of these is locked
  kTimeout,     // the statement took too long
  kConflict,    // deadlock, serialization: a retry may succeed
  kDefinition,  // perhaps all rows: table, columns, privileges; or a trigger with such an error
  kDatabase,    // not a row: it is read-only, full, shutting down, or gone
};

DeleteFault FaultOf(const absl::Status& status);

// A short reason why the row could not be deleted; the same cause gives the same text.
std::string ReasonOf(const absl::Status& status);

// Makes our own text, which may contain names of the database, safe as a reason.
std::string ReasonOf(absl::string_view words);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_FAULT_H_
