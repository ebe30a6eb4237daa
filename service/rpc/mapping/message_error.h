#ifndef TTL_SERVICE_RPC_MAPPING_MESSAGE_ERROR_H_
#define TTL_SERVICE_RPC_MAPPING_MESSAGE_ERROR_H_

#include "absl/status/status.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {

// Why one message of a stream is refused: code, message and how long to wait, as a call would
// end.
void FillMessageError(const absl::Status& status, v1::MessageError& error);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_MESSAGE_ERROR_H_
