#include "service/storage/upkeep/backup.h"

#include <utility>

#include "service/base/status_macros.h"
#include "service/storage/format/data_format.h"
#include "service/storage/upkeep/backup_crc.h"
#include "ttl/storage/v1/record.pb.h"

namespace ttl {
namespace {

// Records of one frame: short enough not to hold a cursor for long.
constexpr size_t kCopiedBytesPerFrame = size_t{256} << 10;
constexpr size_t kCommittedBytesPerFrame = size_t{4} << 20;

void AppendNumber(uint32_t number, std::string& bytes) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(number >> shift));
}

}  // namespace

Backup::Backup(const Database& database, ChangeTap& tap, absl::Time now)
    : database_(database), tap_(tap), start_time_(now) {}

Backup::~Backup() { tap_.Close(); }

absl::StatusOr<std::unique_ptr<Backup>> Backup::Start(const Database& database, ChangeTap& tap,
                                                      absl::Time now) {
  TTL_RETURN_IF_ERROR(tap.Open());
  return std::unique_ptr<Backup>(new Backup(database, tap, now));
}

absl::StatusOr<std::string> Backup::Next() {
  std::string bytes;
  if (ended_) return bytes;
  if (frames_ == 0) {
    storage::v1::BackupFrame frame;
    frame.mutable_header()->set_format(1);
    frame.mutable_header()->set_start_time_us(absl::ToUnixMicros(start_time_));
    TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> data_format, database_.DataFormat());
    frame.mutable_header()->set_data_format(data_format.value_or(kFirstDataFormat));
    bytes = kBackupMagic;
    crc_ = ExtendCrc(crc_, bytes);
    AddFrame(frame.SerializeAsString(), bytes);
  }
  const bool is_last = copied_all_;
  TTL_RETURN_IF_ERROR(AddCommitted(bytes));
  if (is_last) {
    TTL_RETURN_IF_ERROR(AddEnd(bytes));
  } else {
    TTL_RETURN_IF_ERROR(AddCopies(bytes));
  }
  return bytes;
}

absl::Status Backup::AddCommitted(std::string& bytes) {
  TTL_ASSIGN_OR_RETURN(const std::vector<WriteSet> commits, tap_.Drain());
  storage::v1::BackupFrame frame;
  size_t frame_bytes = 0;
  const auto end_frame = [&] {
    if (frame_bytes > 0) AddFrame(frame.SerializeAsString(), bytes);
    frame.Clear();
    frame_bytes = 0;
  };
  for (const WriteSet& commit : commits) {
    for (const auto& [key, value] : commit) {
      storage::v1::BackupChange& change = *frame.mutable_changes()->add_changes();
      change.set_key(key);
      if (value.has_value()) change.set_value(*value);
      frame_bytes += key.size() + (value.has_value() ? value->size() : 0);
      ++records_;
      if (frame_bytes >= kCommittedBytesPerFrame) end_frame();
    }
  }
  end_frame();
  return absl::OkStatus();
}

absl::Status Backup::AddCopies(std::string& bytes) {
  storage::v1::BackupFrame frame;
  size_t frame_bytes = 0;
  auto cursor = database_.WalkPrefix("", position_);
  for (; cursor.Valid() && frame_bytes < kCopiedBytesPerFrame; cursor.Next()) {
    storage::v1::BackupChange& change = *frame.mutable_changes()->add_changes();
    change.set_key(std::string(cursor.key()));
    change.set_value(std::string(cursor.value()));
    frame_bytes += cursor.key().size() + cursor.value().size();
    position_ = std::string(cursor.key()) + '\0';
    ++records_;
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  copied_all_ = !cursor.Valid();
  if (frame_bytes > 0) AddFrame(frame.SerializeAsString(), bytes);
  return absl::OkStatus();
}

absl::Status Backup::AddEnd(std::string& bytes) {
  TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> data_format, database_.DataFormat());
  storage::v1::BackupFrame frame;
  frame.mutable_end()->set_data_format(data_format.value_or(kFirstDataFormat));
  frame.mutable_end()->set_frames(frames_);
  frame.mutable_end()->set_crc(crc_);
  AddFrame(frame.SerializeAsString(), bytes);
  ended_ = true;
  return absl::OkStatus();
}

void Backup::AddFrame(const std::string& frame, std::string& bytes) {
  const size_t begin = bytes.size();
  AppendNumber(static_cast<uint32_t>(frame.size()), bytes);
  AppendNumber(ExtendCrc(0, frame), bytes);
  bytes += frame;
  crc_ = ExtendCrc(crc_, absl::string_view(bytes).substr(begin));
  ++frames_;
}

}  // namespace ttl
