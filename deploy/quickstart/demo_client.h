#ifndef TTL_DEPLOY_QUICKSTART_DEMO_CLIENT_H_
#define TTL_DEPLOY_QUICKSTART_DEMO_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "deploy/quickstart/sighting.h"
#include "documentstore/v1/document_service.grpc.pb.h"
#include "ttl/client.h"
#include "ttl/v1/container.pb.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl::quickstart {

// The documents of a container that a query showed, over all its pages.
struct Listing {
  // Whether and when document `id` was shown.
  Sighting Of(const std::string& id) const { return {ids.contains(id), earliest, latest}; }

  absl::flat_hash_set<std::string> ids;
  absl::Time earliest;
  absl::Time latest;
};

// The calls of the quick start, to the document store as its users make them and
// to the sidecar as its operators do. A call that fails ends the program with a
// message and exit code 1: there is nothing to show then. Not thread-safe.
class DemoClient {
 public:
  // Addresses as gRPC takes them: unix:/path or host:port.
  DemoClient(const std::string& store_address, const std::string& sidecar_address);

  void CreateContainer(const v1::Container& container);

  // Writes one document; returns it as written, with its ts.
  documentstore::v1::Document Put(const std::string& container, const std::string& id,
                                  std::optional<int64_t> ttl);

  // Writes documents "<prefix>0", "<prefix>1", ... without a ttl; returns the
  // latest ts among them.
  int64_t PutMany(const std::string& container, const std::string& prefix, int count);

  // Restarts the countdown of a document; returns it with its new ts.
  documentstore::v1::Document Touch(const std::string& container, const std::string& id);

  Sighting Get(const std::string& container, const std::string& id);
  Listing Query(const std::string& container);

  // What physically lies in the store.
  documentstore::v1::CountStoredDocumentsResponse CountStored(const std::string& container);

  std::vector<v1::ContainerExpiryStatus> ExpiryStatuses();

 private:
  std::unique_ptr<documentstore::v1::DocumentService::Stub> documents_;
  TtlClient sidecar_;
};

}  // namespace ttl::quickstart

#endif  // TTL_DEPLOY_QUICKSTART_DEMO_CLIENT_H_
