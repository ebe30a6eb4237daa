#ifndef TTL_SERVICE_RPC_MAPPING_MESSAGE_ERROR_H_
#define TTL_SERVICE_RPC_MAPPING_MESSAGE_ERROR_H_

#include "absl/status/status.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {

// Fills in why a message of a stream was refused: the code, message, retry delay and details with
// which a unary call would have ended.
void FillMessageError(const absl::Status& status, v1::MessageError& error);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_MESSAGE_ERROR_H_
