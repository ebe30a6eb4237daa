// The containers file (YAML): what is accepted can be stored, and no file ends the
// program.

#include "service/yaml/container_entries.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto entries = ttl::ParseContainers("containers.yaml", text);
  if (!entries.ok()) {
    ttl::Require(absl::IsInvalidArgument(entries.status()), "refused as the file's fault");
    return 0;
  }
  for (const ttl::ContainerEntry& entry : *entries) {
    ttl::Require(ttl::ValidateContainerId(entry.id).ok(), "an id that can be");
    ttl::Require(ttl::ValidateSettings(entry.settings).ok(), "settings that can be");
  }
  return 0;
}
