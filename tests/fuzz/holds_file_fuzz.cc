// Files of ttlctl holds apply (JSON lines), and the keys of ttlctl holds place.

#include <sstream>
#include <string>

#include "client/ttlctl/input/held_key_text.h"
#include "client/ttlctl/input/holds_file.h"
#include "client/ttlctl/input/key_text.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

// What was read from one line is read again from the line that it makes.
void RequireSameWhenWritten(const v1::PlaceHoldRequest& request) {
  const auto line = HoldsFileLine(request);
  Require(line.ok(), "a line");
  std::istringstream in(*line);
  const auto again = HoldsFileReader(in).Next();
  Require(again.ok() && again->has_value(), "a line that is read");
  Require((*again)->SerializeAsString() == request.SerializeAsString(), "the same request");
}

void ReadFile(absl::string_view bytes) {
  std::istringstream in(std::string(bytes.data(), bytes.size()));
  HoldsFileReader reader(in);
  int64_t requests = 0;
  while (true) {
    const auto request = reader.Next();
    if (!request.ok()) {
      Require(absl::IsInvalidArgument(request.status()), "refused as the file's fault");
      return;
    }
    if (!request->has_value()) break;
    RequireSameWhenWritten(**request);
    ++requests;
  }
  Require(requests <= reader.line_number(), "at most one request per line");
  Require(reader.is_complete() || reader.containers().empty() || requests > 0,
          "nothing to accept without a last line");
}

void ReadKey(absl::string_view text) {
  const auto key = HeldKeyFromText(text);
  if (!key.ok()) {
    Require(absl::IsInvalidArgument(key.status()), "refused as the key's fault");
    return;
  }
  const auto whole = KeyFromText(text);
  Require(whole.ok(), "parts of a text that is one");
  Require(key->partition_key().size() + key->id().size() <= whole->size(),
          "the bytes it stands for");
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  ttl::ReadFile(bytes);
  ttl::ReadKey(bytes);
  return 0;
}
