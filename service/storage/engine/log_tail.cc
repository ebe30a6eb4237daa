#include "service/storage/engine/log_tail.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

// A log consists of blocks of fragments. LogWalk reads the fragments and remembers where the last
// whole write ends. The first thing that does not fit is the break. It is a torn write if there are
// zeros where the fragment should be, either its whole header or a whole sector of it; anything
// else may be damage. LogWalk then continues only to see whether another write begins behind the
// break. If so, the break is damage, because each write is synced before the next one begins.
namespace ttl {
namespace {

// LevelDB's log format (doc/log_format.md): blocks of fragments (pieces), none of which crosses the
// end of its block. A piece has a checksum of 4 bytes, a length of 2, a type, and its part of a
// write.
constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;
constexpr absl::string_view kZeroHeader("\0\0\0\0\0\0\0", kHeaderBytes);
enum PieceType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// A disk writes a sector either completely or not at all.
constexpr uint64_t kSectorBytes = 512;

constexpr std::array<uint32_t, 256> MakeCrc32cTable() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 == 0 ? 0 : 0x82F63B78);
    table[byte] = crc;
  }
  return table;
}

// The checksum of a piece, as it is stored.
uint32_t MaskedCrc32c(absl::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrc32cTable();
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xFF];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xA282EAD8;
}

uint32_t ReadLittleEndian(absl::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return value;
}

// Whether the part of `bytes`, which are at `offset` of a file, in any of its sectors is all zeros.
bool HasZeroSector(absl::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const size_t size = std::min<uint64_t>(bytes.size(), kSectorBytes - offset % kSectorBytes);
    if (bytes.substr(0, size).find_first_not_of('\0') == absl::string_view::npos) return true;
    bytes.remove_prefix(size);
    offset += size;
  }
  return false;
}

class LogWalk {
 public:
  // The next block, which is at `offset`.
  void Take(absl::string_view block, uint64_t offset) {
    while (block.size() >= kHeaderBytes) {
      const size_t size = kHeaderBytes + ReadLittleEndian(block.substr(4, 2));
      if (size > block.size()) return Break(false);
      const absl::string_view piece = block.substr(0, size);
      if (piece == kZeroHeader) return Break(true);  // the position of the next one is unknown
      block.remove_prefix(size);
      if (IsWhole(piece)) {
        TakePiece(static_cast<PieceType>(piece[6]), offset + size);
      } else {
        Break(HasZeroSector(piece, offset));
      }
      offset += size;
    }
  }

  std::optional<uint64_t> TornWrite() const {
    return is_torn_ && !goes_on_ ? std::optional(whole_end_) : std::nullopt;
  }

 private:
  static bool IsWhole(absl::string_view piece) {
    return piece[6] >= kFull && piece[6] <= kLast &&
           MaskedCrc32c(piece.substr(6)) == ReadLittleEndian(piece.substr(0, 4));
  }

  void TakePiece(PieceType type, uint64_t end) {
    const bool begins = type == kFull || type == kFirst;
    if (is_broken_) {
      goes_on_ = goes_on_ || begins;
    } else if (begins == in_write_) {
      Break(false);
    } else {
      in_write_ = type == kFirst || type == kMiddle;
      if (!in_write_) whole_end_ = end;
    }
  }

  // Only the first break counts.
  void Break(bool is_torn) {
    if (!is_broken_) is_torn_ = is_torn;
    is_broken_ = true;
  }

  uint64_t whole_end_ = 0;  // of the last write that is whole
  bool in_write_ = false;
  bool is_broken_ = false;
  bool is_torn_ = false;
  bool goes_on_ = false;  // a write begins after the break
};

// Where the pieces in a block end and the zeros begin. Beyond the end of the block if the block was
// truncated within a piece; 0 if there is no piece.
size_t FindPiecesEnd(absl::string_view block) {
  size_t end = 0;
  while (end + kHeaderBytes <= block.size()) {
    const absl::string_view header = block.substr(end, kHeaderBytes);
    // Zeros within a torn write may be followed by more of it, in another block.
    if (header == kZeroHeader) return end;
    end += kHeaderBytes + ReadLittleEndian(header.substr(4, 2));
  }
  if (end >= block.size()) return std::min(end, kBlockBytes);
  const bool is_padding = block.find_first_not_of('\0', end) == absl::string_view::npos;
  return is_padding ? end : kBlockBytes;
}

}  // namespace

static_assert(kLogEndZeros == kHeaderBytes);

absl::StatusOr<bool> EndsInZeros(leveldb::SequentialFile& log) {
  const auto scratch = std::make_unique<std::array<char, kBlockBytes>>();
  uint64_t pieces_end = 0;
  for (uint64_t offset = 0;; offset += kBlockBytes) {
    leveldb::Slice block;
    const leveldb::Status read = log.Read(kBlockBytes, &block, scratch->data());
    if (!read.ok()) return absl::UnavailableError(read.ToString());
    const size_t end = FindPiecesEnd({block.data(), block.size()});
    if (end > 0) pieces_end = offset + end;
    if (block.size() < kBlockBytes) return pieces_end + kLogEndZeros <= offset + block.size();
  }
}

std::optional<uint64_t> FindTornWrite(leveldb::SequentialFile& log) {
  const auto scratch = std::make_unique<std::array<char, kBlockBytes>>();
  LogWalk walk;
  for (uint64_t offset = 0;; offset += kBlockBytes) {
    leveldb::Slice block;
    if (!log.Read(kBlockBytes, &block, scratch->data()).ok()) return std::nullopt;
    walk.Take({block.data(), block.size()}, offset);
    if (block.size() < kBlockBytes) return walk.TornWrite();
  }
}

}  // namespace ttl
