#ifndef TTL_SERVICE_SERVER_PAGE_PAGE_DOCUMENT_H_
#define TTL_SERVICE_SERVER_PAGE_PAGE_DOCUMENT_H_

#include <string>

namespace ttl {

// The page as it is served.
struct PageDocument {
  std::string html;  // with its style and its script inline
  // Allows the style and the script by their hashes, and calls to the page's own server; nothing
  // else.
  std::string content_security_policy;
};

// Puts the page together from the embedded files.
PageDocument MakePageDocument();

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_PAGE_PAGE_DOCUMENT_H_
