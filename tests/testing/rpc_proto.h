#ifndef TTL_TESTS_TESTING_RPC_PROTO_H_
#define TTL_TESTS_TESTING_RPC_PROTO_H_

#include <google/protobuf/text_format.h>

#include <cstdlib>
#include <string>

namespace ttl {

// Parses a message in protobuf text format; aborts if `text` is not valid.
template <typename Message>
Message Proto(const std::string& text) {
  Message message;
  if (!google::protobuf::TextFormat::ParseFromString(text, &message)) std::abort();
  return message;
}

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_RPC_PROTO_H_
