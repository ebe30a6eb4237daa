#include "service/rpc/mapping/event_token.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"

namespace ttl {
namespace {

// The first byte of a token. Another one follows if the format ever changes.
constexpr char kFormat = 1;
constexpr size_t kNumberBytes = 8;
constexpr size_t kTokenBytes = 1 + 3 * kNumberBytes;

std::string BigEndian(uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
  return bytes;
}

uint64_t ReadNumber(absl::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes.substr(0, kNumberBytes)) {
    number = number << 8 | static_cast<unsigned char>(byte);
  }
  return number;
}

// FNV-1a. It guards against mistakes, not against forgery: a client that makes up a token harms
// only itself.
uint64_t Hash(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

uint64_t HashOfContainers(std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  std::string bytes;
  for (const std::string& id : ids) absl::StrAppend(&bytes, BigEndian(id.size()), id);
  return Hash(bytes);
}

uint64_t CombinedEpoch(std::vector<uint64_t> epochs) {
  if (epochs.size() == 1) return epochs[0];
  std::sort(epochs.begin(), epochs.end());
  std::string bytes;
  for (const uint64_t epoch : epochs) bytes += BigEndian(epoch);
  return Hash(bytes);
}

std::string EncodeEventToken(const EventToken& token) {
  return absl::StrCat(absl::string_view(&kFormat, 1), BigEndian(token.containers),
                      BigEndian(token.epoch), BigEndian(token.sequence));
}

absl::StatusOr<EventToken> DecodeEventToken(absl::string_view field, absl::string_view token) {
  if (token.size() != kTokenBytes || token[0] != kFormat) {
    return InvalidField(
        field,
        absl::StrCat(field, " is ", absl::BytesToHexString(token.substr(0, kTokenBytes)), " (",
                     token.size(), " bytes): must be empty or the token of a response"));
  }
  token.remove_prefix(1);
  return EventToken{.containers = ReadNumber(token),
                    .epoch = ReadNumber(token.substr(kNumberBytes)),
                    .sequence = ReadNumber(token.substr(2 * kNumberBytes))};
}

}  // namespace ttl
