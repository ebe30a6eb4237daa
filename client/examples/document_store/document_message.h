#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_MESSAGE_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_MESSAGE_H_

#include <string>

#include "client/examples/document_store/document_key.h"
#include "documentstore/storage/v1/record.pb.h"
#include "documentstore/v1/document_service.pb.h"

// Stored documents as messages of the API. Pure functions.
namespace documentstore {

std::string EtagOf(const storage::v1::DocumentRecord& record);

v1::Document WithoutBody(const DocumentKey& key, const storage::v1::DocumentRecord& record);
v1::Document ToDocument(const DocumentKey& key, const storage::v1::DocumentRecord& record);

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_MESSAGE_H_
