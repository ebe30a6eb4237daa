// The access file (YAML): nobody without a name, or without a role, gets in.

#include "service/server/config/access_file.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto identities = ttl::ParseAccess("access.yaml", text);
  if (!identities.ok()) {
    ttl::Require(absl::IsInvalidArgument(identities.status()), "refused as the file's fault");
    return 0;
  }
  for (const auto* map : {&identities->uri, &identities->dns, &identities->common_name}) {
    for (const auto& [name, roles] : *map) {
      ttl::Require(!name.empty() && !roles.empty(), "a name and a role");
    }
  }
  return 0;
}
