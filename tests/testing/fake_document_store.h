#ifndef TTL_TESTS_TESTING_FAKE_DOCUMENT_STORE_H_
#define TTL_TESTS_TESTING_FAKE_DOCUMENT_STORE_H_

#include <grpcpp/server.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace ttl {

// The fault of a FakeDocumentStore.
enum class StoreFault {
  kNone,
  kShowsExpired,    // for one second more
  kHidesLive,       // from one second before
  kLosesWrites,     // acknowledges some puts without applying them
  kMixesUpBodies,   // answers with the body of another document now and then
  kKeepsGarbage,    // counts expired documents as stored for ever
  kFailsSometimes,  // not wrong: answers UNAVAILABLE before or after applying
};

// An in-memory documentstore.v1.DocumentService with a TTL of its own, to test oracles of document
// stores. Expired documents are removed at once. Containers are created on first use, with the
// default_ttl given at construction, or -1.
//
// Thread-safe. Serves on a Unix socket from construction to destruction.
class FakeDocumentStore {
 public:
  FakeDocumentStore(const std::string& socket_path, StoreFault fault,
                    std::map<std::string, int64_t> default_ttls);
  ~FakeDocumentStore();

  FakeDocumentStore(const FakeDocumentStore&) = delete;
  FakeDocumentStore& operator=(const FakeDocumentStore&) = delete;

 private:
  class Service;

  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAKE_DOCUMENT_STORE_H_
