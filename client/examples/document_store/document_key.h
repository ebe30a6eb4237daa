#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_KEY_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_KEY_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace documentstore {

// The key of a document.
struct DocumentKey {
  std::string container;
  std::string partition_key;
  std::string id;
};

// The key in LevelDB. Container and partition key are preceded by their lengths (two bytes,
// big-endian), so that keys are unique, and the documents of a container, and of a partition in it,
// are adjacent.
std::string EncodeKey(const DocumentKey& key);

// The common prefix of the keys of all documents, of one container, and of one partition.
std::string AllDocumentsPrefix();
std::string ContainerPrefix(const std::string& container);
std::string PartitionPrefix(const std::string& container, const std::string& partition_key);

// Inverse of EncodeKey(); nullopt if `encoded` is not the key of a document.
std::optional<DocumentKey> DecodeKey(absl::string_view encoded);

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_KEY_H_
