#include "service/storage/upkeep/backup_file.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/storage/format/data_format.h"
#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/backup_crc.h"
#include "ttl/storage/v1/record.pb.h"

namespace ttl {
namespace {

constexpr int kFormat = 1;

class Reader {
 public:
  Reader(std::istream& file, const std::string& name) : file_(file), name_(name) {}

  // The next frame, whole and undamaged. `crc_before` is that of the bytes before it.
  absl::StatusOr<storage::v1::BackupFrame> NextFrame(uint32_t& crc_before) {
    crc_before = crc_;
    TTL_ASSIGN_OR_RETURN(const uint32_t size, ReadNumber());
    TTL_ASSIGN_OR_RETURN(const uint32_t crc, ReadNumber());
    if (size > kMaxBackupFrameBytes) return Damaged("a frame of impossible size");
    TTL_ASSIGN_OR_RETURN(const std::string bytes, Read(size));
    if (ExtendCrc(0, bytes) != crc) return Damaged("a frame whose checksum is wrong");
    storage::v1::BackupFrame frame;
    if (!frame.ParseFromString(bytes)) return Damaged("a frame that cannot be read");
    return frame;
  }

  absl::StatusOr<std::string> Read(size_t size) {
    std::string bytes(size, '\0');
    file_.read(bytes.data(), static_cast<std::streamsize>(size));
    if (static_cast<size_t>(file_.gcount()) < size) return Damaged("no end: it is truncated");
    crc_ = ExtendCrc(crc_, bytes);
    position_ += static_cast<int64_t>(size);
    return bytes;
  }

  bool AtEnd() { return file_.peek() == std::istream::traits_type::eof(); }

  absl::Status Damaged(absl::string_view what) const {
    return absl::DataLossError(
        absl::StrCat("the backup file ", name_, " has ", what, " (near byte ", position_, ")"));
  }

 private:
  absl::StatusOr<uint32_t> ReadNumber() {
    TTL_ASSIGN_OR_RETURN(const std::string bytes, Read(4));
    uint32_t number = 0;
    for (int i = 3; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
    return number;
  }

  std::istream& file_;
  const std::string& name_;
  uint32_t crc_ = 0;
  int64_t position_ = 0;
};

absl::Status ReadMagic(Reader& reader, const std::string& name) {
  const absl::StatusOr<std::string> magic = reader.Read(sizeof(kBackupMagic) - 1);
  if (magic.ok() && *magic == kBackupMagic) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is not a backup file of ttl-sidecar"));
}

WriteSet ToWriteSet(storage::v1::BackupChanges& changes) {
  WriteSet writes;
  writes.reserve(static_cast<size_t>(changes.changes_size()));
  for (storage::v1::BackupChange& change : *changes.mutable_changes()) {
    std::optional<std::string> value;
    if (change.has_value()) value = std::move(*change.mutable_value());
    writes.emplace_back(std::move(*change.mutable_key()), std::move(value));
  }
  return writes;
}

// OK if this program can judge data of that format; 0 counts as the first.
absl::Status CheckDataFormat(int64_t format, const std::string& name) {
  if (format <= kNewestDataFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the data in the backup file ", name, " has format ", format,
                   ", this program reads up to ", kNewestDataFormat, ": use a newer program"));
}

absl::StatusOr<BackupSummary> ReadHeader(Reader& reader, const std::string& name) {
  TTL_RETURN_IF_ERROR(ReadMagic(reader, name));
  uint32_t crc = 0;
  TTL_ASSIGN_OR_RETURN(const storage::v1::BackupFrame frame, reader.NextFrame(crc));
  if (!frame.has_header()) return reader.Damaged("no header");
  if (frame.header().format() != kFormat) {
    return absl::InvalidArgumentError(absl::StrCat("the backup file ", name, " has format ",
                                                   frame.header().format(), ", this program reads ",
                                                   kFormat));
  }
  TTL_RETURN_IF_ERROR(CheckDataFormat(frame.header().data_format(), name));
  return BackupSummary{absl::FromUnixMicros(frame.header().start_time_us()), 0};
}

}  // namespace

absl::StatusOr<BackupSummary> ReadBackup(std::istream& file, const std::string& name,
                                         absl::FunctionRef<absl::Status(WriteSet)> take) {
  Reader reader(file, name);
  TTL_ASSIGN_OR_RETURN(BackupSummary summary, ReadHeader(reader, name));
  for (int64_t frames = 1;; ++frames) {
    uint32_t crc_before = 0;
    TTL_ASSIGN_OR_RETURN(storage::v1::BackupFrame frame, reader.NextFrame(crc_before));
    if (frame.has_end()) {
      const storage::v1::BackupEnd& end = frame.end();
      if (end.frames() != frames || end.crc() != crc_before) {
        return reader.Damaged("an end that is not its own");
      }
      if (!reader.AtEnd()) return reader.Damaged("something behind its end");
      TTL_RETURN_IF_ERROR(CheckDataFormat(end.data_format(), name));
      return summary;
    }
    if (!frame.has_changes()) return reader.Damaged("a frame of an unknown kind");
    summary.records += frame.changes().changes_size();
    TTL_RETURN_IF_ERROR(take(ToWriteSet(*frame.mutable_changes())));
  }
}

}  // namespace ttl
