#include "service/server/page/page_document.h"

#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "service/server/page/page_files.h"

namespace ttl {
namespace {

// The source expression of an inline text, as in 'sha256-...'.
std::string HashSource(absl::string_view text) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash);
  const absl::string_view bytes(reinterpret_cast<const char*>(hash), sizeof(hash));
  return absl::StrCat("'sha256-", absl::Base64Escape(bytes), "'");
}

}  // namespace

PageDocument MakePageDocument() {
  return {
      .html = absl::StrReplaceAll(
          PageHtml(), {{"<style></style>", absl::StrCat("<style>", PageStyle(), "</style>")},
                       {"<script></script>", absl::StrCat("<script>", PageScript(), "</script>")}}),
      .content_security_policy =
          absl::StrCat("default-src 'none'; connect-src 'self'; script-src ",
                       HashSource(PageScript()), "; style-src ", HashSource(PageStyle()),
                       "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")};
}

}  // namespace ttl
