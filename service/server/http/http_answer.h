#ifndef TTL_SERVICE_SERVER_HTTP_HTTP_ANSWER_H_
#define TTL_SERVICE_SERVER_HTTP_HTTP_ANSWER_H_

#include <memory>
#include <string>

namespace ttl {

// The complete response to a request, after which the connection is closed.
struct HttpAnswer {
  std::string head;                              // up to and including the empty line
  std::shared_ptr<const std::string> body = {};  // shared by all who are sent it; null: none
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_HTTP_HTTP_ANSWER_H_
