#include "client/examples/document_store/document_message.h"

namespace documentstore {

using storage::v1::DocumentRecord;

std::string EtagOf(const DocumentRecord& record) { return std::to_string(record.sequence()); }

v1::Document WithoutBody(const DocumentKey& key, const DocumentRecord& record) {
  v1::Document document;
  document.set_partition_key(key.partition_key);
  document.set_id(key.id);
  if (record.has_ttl()) document.set_ttl(record.ttl());
  if (record.has_expire_at()) document.set_expire_at(record.expire_at());
  document.set_ts(record.ts());
  document.set_etag(EtagOf(record));
  return document;
}

v1::Document ToDocument(const DocumentKey& key, const DocumentRecord& record) {
  v1::Document document = WithoutBody(key, record);
  document.set_body(record.body());
  return document;
}

}  // namespace documentstore
