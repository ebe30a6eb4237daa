#ifndef TTL_CLIENT_TTLCTL_INPUT_IMPORT_LINE_H_
#define TTL_CLIENT_TTLCTL_INPUT_IMPORT_LINE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ttl/v1/item.pb.h"

namespace ttl {

// The item that one line of an import describes: a JSON object with
//
//   id or id_base64                        required; text, or any bytes
//   partition_key or partition_key_base64  as above; empty if absent
//   ts                                     required; Unix seconds, at least 1
//   ttl                                    absent, -1 or 1 to 2147483647
//   etag or etag_base64
//   sequence                               0 to 2^64-1
//   size_bytes                             at least 0
//
// INVALID_ARGUMENT, naming the field and what is allowed, for everything else: unknown fields,
// duplicate fields, null except for ttl, numbers as text, fractions, nested values. Nothing is
// guessed, because a misread ttl deletes data, or keeps it for ever.
absl::StatusOr<v1::Item> ParseImportLine(absl::string_view line);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_IMPORT_LINE_H_
