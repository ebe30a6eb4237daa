#ifndef TTL_TESTS_TESTING_RPC_PROTO_H_
#define TTL_TESTS_TESTING_RPC_PROTO_H_

#include <google/protobuf/text_format.h>

#include <cstdlib>
#include <string>

namespace ttl {

// The message that `text` stands for in protobuf's text format; aborts if that is
// none.
template <typename Message>
Message Proto(const std::string& text) {
  Message message;
  if (!google::protobuf::TextFormat::ParseFromString(text, &message)) std::abort();
  return message;
}

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_RPC_PROTO_H_
