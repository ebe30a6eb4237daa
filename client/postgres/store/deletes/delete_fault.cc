#include "client/postgres/store/deletes/delete_fault.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {
namespace {

struct FaultOfPrefix {
  absl::string_view prefix;  // of a SQLSTATE; the first match wins
  DeleteFault fault;
};

constexpr FaultOfPrefix kFaults[] = {
    {"08", DeleteFault::kDatabase},    // connection
    {"25", DeleteFault::kDatabase},    // read-only, idle in a transaction for too long
    {"53", DeleteFault::kDatabase},    // disk, memory, connections
    {"57014", DeleteFault::kTimeout},  // statement timeout
    {"57", DeleteFault::kDatabase},    // shutting down
    {"58", DeleteFault::kDatabase},    // input and output
    {"55P03", DeleteFault::kLock},     // lock timeout
    {"40", DeleteFault::kConflict},    // deadlock, serialization
    {"42", DeleteFault::kDefinition},  // names, privileges
    {"3F", DeleteFault::kDefinition},  // schema
};

// Limits the message of an error: a trigger may write any text, and an answer may have a thousand
// such rows.
constexpr size_t kMaxMessageBytes = 1000;

// Bytes of the UTF-8 character at the front; 0: there is none.
size_t CharacterBytes(absl::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const size_t size = byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (size == 0 || byte(0) > 0xF4 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const int pair = byte(0) << 8 | byte(1);
  const bool is_overlong = (pair >= 0xE080 && pair < 0xE0A0) || (pair >= 0xF080 && pair < 0xF090);
  const bool is_surrogate = pair >= 0xEDA0 && pair < 0xEDC0;
  return is_overlong || is_surrogate || pair >= 0xF490 ? 0 : size;
}

// Cuts and repairs `text`: a message of an SQL_ASCII database may contain any bytes, which would
// make the whole answer unreadable.
std::string ShortUtf8(absl::string_view text) {
  std::string shown;
  while (!text.empty() && shown.size() < kMaxMessageBytes) {
    const size_t bytes = CharacterBytes(text);
    absl::StrAppend(&shown, bytes == 0 ? "?" : text.substr(0, bytes));
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return text.empty() ? shown : absl::StrCat(shown, "...");
}

}  // namespace

DeleteFault FaultOf(const absl::Status& status) {
  const std::string sql_state = SqlState(status);
  // The error is not from the server, or is its last one.
  if (sql_state.empty() || absl::IsUnavailable(status)) return DeleteFault::kDatabase;
  for (const FaultOfPrefix& known : kFaults) {
    if (absl::StartsWith(sql_state, known.prefix)) return known.fault;
  }
  return DeleteFault::kRow;
}

std::string ReasonOf(const absl::Status& status) {
  return absl::StrCat(ShortUtf8(SqlMessage(status)), " (SQLSTATE ", SqlState(status), ")");
}

std::string ReasonOf(absl::string_view words) { return ShortUtf8(words); }

}  // namespace ttl::postgres
