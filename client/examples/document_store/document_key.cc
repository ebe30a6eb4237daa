#include "client/examples/document_store/document_key.h"

#include "absl/strings/str_cat.h"

namespace documentstore {
namespace {

std::string WithLength(const std::string& text) {
  const char length[] = {static_cast<char>(text.size() >> 8), static_cast<char>(text.size())};
  return absl::StrCat(absl::string_view(length, sizeof(length)), text);
}

std::optional<std::string> TakeWithLength(absl::string_view& encoded) {
  if (encoded.size() < 2) return std::nullopt;
  const size_t length =
      static_cast<unsigned char>(encoded[0]) * 256 + static_cast<unsigned char>(encoded[1]);
  encoded.remove_prefix(2);
  if (encoded.size() < length) return std::nullopt;
  std::string text(encoded.substr(0, length));
  encoded.remove_prefix(length);
  return text;
}

}  // namespace

std::string AllDocumentsPrefix() { return "d"; }

std::string ContainerPrefix(const std::string& container) {
  return absl::StrCat(AllDocumentsPrefix(), WithLength(container));
}

std::string PartitionPrefix(const std::string& container, const std::string& partition_key) {
  return absl::StrCat(ContainerPrefix(container), WithLength(partition_key));
}

std::string EncodeKey(const DocumentKey& key) {
  return absl::StrCat(PartitionPrefix(key.container, key.partition_key), key.id);
}

std::optional<DocumentKey> DecodeKey(absl::string_view encoded) {
  if (encoded.empty() || encoded[0] != AllDocumentsPrefix()[0]) return std::nullopt;
  encoded.remove_prefix(1);
  const auto container = TakeWithLength(encoded);
  if (!container) return std::nullopt;
  const auto partition_key = TakeWithLength(encoded);
  if (!partition_key) return std::nullopt;
  return DocumentKey{*container, *partition_key, std::string(encoded)};
}

}  // namespace documentstore
