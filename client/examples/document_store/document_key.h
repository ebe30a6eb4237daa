#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_KEY_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_KEY_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace documentstore {

// Names one document.
struct DocumentKey {
  std::string container;
  std::string partition_key;
  std::string id;
};

// Key in LevelDB. The lengths of container and partition key stand before them
// (two bytes, big-endian), so that no two documents share a key and the
// documents of a container, and of a partition in it, lie side by side.
std::string EncodeKey(const DocumentKey& key);

// What the keys of all documents start with, of those of one container, and of
// those of one partition.
std::string AllDocumentsPrefix();
std::string ContainerPrefix(const std::string& container);
std::string PartitionPrefix(const std::string& container, const std::string& partition_key);

// Inverse of EncodeKey; nullopt if `encoded` is no key of a document.
std::optional<DocumentKey> DecodeKey(absl::string_view encoded);

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_KEY_H_
