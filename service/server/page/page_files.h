#ifndef TTL_SERVICE_SERVER_PAGE_PAGE_FILES_H_
#define TTL_SERVICE_SERVER_PAGE_PAGE_FILES_H_

#include "absl/strings/string_view.h"

namespace ttl {

// The texts of the files beside this one, which embed_page.cmake puts into the program.
absl::string_view PageHtml();    // status_page.html
absl::string_view PageStyle();   // status_page.css
absl::string_view PageScript();  // the .js files, in order of use

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_PAGE_PAGE_FILES_H_
