#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_FAULT_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_FAULT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl::postgres {

// What an error of a delete is about, and so what to do about it.
enum class DeleteFault {
  kRow,         // a row, or what hangs on it: constraints, triggers, data; the others can go
  kLock,        // a row that must go along with one of these is locked
  kTimeout,     // the statement took too long
  kConflict,    // deadlock, serialization: the next try may well succeed
  kDefinition,  // perhaps all rows: table, columns, rights; or a trigger with such an error
  kDatabase,    // no row: it is read-only, full, going down, or gone
};

DeleteFault FaultOf(const absl::Status& status);

// Why the row could not be deleted, in a few words; the same cause gives the same words.
std::string ReasonOf(const absl::Status& status);

// Words of ours that have names of the database in them, as a reason.
std::string ReasonOf(absl::string_view words);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_FAULT_H_
