// Lines of an import (JSON), and the text form of keys on the command line.

#include "client/ttlctl/input/import_line.h"
#include "client/ttlctl/input/key_text.h"
#include "service/core/item.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

void ReadLine(absl::string_view line) {
  const auto item = ParseImportLine(line);
  if (!item.ok()) {
    Require(absl::IsInvalidArgument(item.status()), "refused as the line's fault");
    return;
  }
  Require(item->ts() >= kMinTs, "a possible time");
  Require(!item->has_ttl() || IsLegalTtl(item->ttl()), "a legal ttl");
  Require(item->id().size() <= kMaxIdBytes, "a fitting id");
  Require(item->partition_key().size() <= kMaxPartitionKeyBytes, "a fitting partition key");
  Require(item->etag().size() <= kMaxEtagBytes, "a fitting etag");
  Require(item->size_bytes() >= 0, "a possible size");
}

void ReadKeyText(absl::string_view bytes) {
  const std::string text = KeyToText(bytes);
  Require(IsUtf8(text), "fit for a terminal");
  const auto back = KeyFromText(text);
  Require(back.ok() && *back == bytes, "the bytes it stands for");
  const auto other = KeyFromText(bytes);
  if (other.ok()) Require(*KeyFromText(KeyToText(*other)) == *other, "one meaning");
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  ttl::ReadLine(bytes);
  ttl::ReadKeyText(bytes);
  return 0;
}
