// Backup files, as an operator hands them in: every record that is counted was given
// out, and a file that was not finished is refused.

#include <sstream>
#include <string>

#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/backup_crc.h"
#include "service/storage/upkeep/backup_file.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

void ReadFile(const std::string& bytes) {
  std::istringstream file(bytes);
  int64_t records = 0;
  const auto summary = ReadBackup(file, "backup", [&](WriteSet changes) {
    records += static_cast<int64_t>(changes.size());
    return absl::OkStatus();
  });
  if (!summary.ok()) return;
  Require(summary->records == records, "as many records as were given out");
  for (const size_t cut : {bytes.size() - 1, bytes.size() / 2}) {
    std::istringstream part(bytes.substr(0, cut));
    Require(!ReadBackup(part, "backup", [](WriteSet) { return absl::OkStatus(); }).ok(),
            "a part is not the whole");
  }
}

void AppendNumber(uint32_t number, std::string& file) {
  for (int shift = 0; shift < 32; shift += 8) file.push_back(static_cast<char>(number >> shift));
}

// The file of these frames, with the checksums that hide most of the reader from bytes
// made at random.
std::string MakeFile(FuzzInput input) {
  std::string file = kBackupMagic;
  while (!input.rest().empty()) {
    const absl::string_view frame = input.TakeText();
    AppendNumber(static_cast<uint32_t>(frame.size()), file);
    AppendNumber(ExtendCrc(0, frame), file);
    file.append(frame.data(), frame.size());
  }
  return file;
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ttl::ReadFile(std::string(reinterpret_cast<const char*>(data), size));
  ttl::ReadFile(ttl::MakeFile(ttl::FuzzInput(data, size)));
  return 0;
}
