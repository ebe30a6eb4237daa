#ifndef TTL_TESTS_UNIT_EXAMPLES_DOCUMENT_STORE_FOR_TEST_H_
#define TTL_TESTS_UNIT_EXAMPLES_DOCUMENT_STORE_FOR_TEST_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/examples/document_store/document_engine.h"
#include "client/examples/document_store/document_table.h"
#include "client/examples/document_store/primary_store.h"
#include "client/examples/document_store/reporter.h"
#include "client/examples/document_store/sidecar_client.h"
#include "tests/testing/fake_item_service.h"
#include "tests/testing/temp_dir.h"

namespace documentstore {

inline constexpr char kContainer[] = "salesdb/orders";
inline constexpr char kPartition[] = "p";

// Two clocks of a test, whole seconds: the sidecar's, and the store's, which is
// `store_behind` seconds behind it. Thread-safe.
class TwoClocks {
 public:
  explicit TwoClocks(int64_t store_behind = 0) : store_behind_(store_behind) {}

  absl::Time sidecar() const { return absl::FromUnixSeconds(seconds_); }
  absl::Time store() const { return absl::FromUnixSeconds(seconds_ - store_behind_); }
  void Advance(int64_t seconds) { seconds_ += seconds; }
  // Time of the store in Unix seconds.
  int64_t now() const { return seconds_ - store_behind_; }

 private:
  const int64_t store_behind_;
  std::atomic<int64_t> seconds_ = 1'700'000'000;
};

// The example store without its transport, on the data of `directory`, wired as
// in main.cc. Destroying it and making another one is a restart.
struct RunningStore {
  RunningStore(const std::string& directory, const ttl::FakeItemService& service,
               const TwoClocks& clocks, absl::Duration retry_interval)
      : table(DocumentTable::Open(directory).value()),
        sidecar(service.channel(), absl::Seconds(10)),
        reporter(*table, sidecar, retry_interval),
        engine(*table, sidecar, reporter, [&clocks] { return clocks.store(); }),
        primary_store(*table, [&clocks] { return clocks.store(); }) {}

  const std::unique_ptr<DocumentTable> table;
  SidecarClient sidecar;
  Reporter reporter;
  DocumentEngine engine;
  PrimaryStore primary_store;
};

// A store and its sidecar, and short forms of the calls to it. The container
// kContainer exists and has default_ttl -1.
class DocumentStoreForTest {
 public:
  explicit DocumentStoreForTest(int64_t store_behind = 0,
                                absl::Duration retry_interval = absl::Hours(1))
      : clocks(store_behind),
        sidecar([this] { return clocks.sidecar(); }),
        retry_interval_(retry_interval) {
    sidecar.SetContainer(kContainer, -1);
    Restart();
  }

  void Restart() {
    store_.reset();
    store_ = std::make_unique<RunningStore>(directory_.path(), sidecar, clocks, retry_interval_);
  }

  RunningStore& store() { return *store_; }
  DocumentEngine& engine() { return store_->engine; }

  absl::StatusOr<v1::Document> Create(const std::string& id,
                                      std::optional<int64_t> ttl = std::nullopt) {
    v1::CreateDocumentRequest request;
    request.set_container(kContainer);
    *request.mutable_document() = MakeDocument(id, ttl);
    return DocumentOf(engine().Create(request));
  }

  absl::StatusOr<v1::Document> Put(const std::string& id, std::optional<int64_t> ttl = std::nullopt,
                                   const std::string& body = "body") {
    v1::PutDocumentsRequest request;
    request.set_container(kContainer);
    *request.add_documents() = MakeDocument(id, ttl, body);
    auto response = engine().Put(request);
    if (!response.ok()) return response.status();
    return response->documents(0);
  }

  absl::StatusOr<v1::Document> Replace(const std::string& id, std::optional<int64_t> ttl,
                                       const std::string& if_match = "") {
    v1::ReplaceDocumentRequest request;
    request.set_container(kContainer);
    request.set_if_match(if_match);
    *request.mutable_document() = MakeDocument(id, ttl, "replaced");
    return DocumentOf(engine().Replace(request));
  }

  absl::StatusOr<v1::Document> Touch(const std::string& id) {
    return DocumentOf(engine().Touch(KeyRequest<v1::TouchDocumentRequest>(id)));
  }

  absl::StatusOr<v1::Document> SetTtl(const std::string& id, int64_t ttl,
                                      v1::TtlCondition condition) {
    auto request = KeyRequest<v1::SetDocumentTtlRequest>(id);
    request.set_ttl(ttl);
    request.set_condition(condition);
    return DocumentOf(engine().SetTtl(request));
  }

  absl::StatusOr<v1::Document> Get(const std::string& id) {
    return DocumentOf(engine().Get(KeyRequest<v1::GetDocumentRequest>(id)));
  }

  // As a reader that keeps what it reads.
  absl::StatusOr<v1::GetDocumentResponse> GetAndTouch(const std::string& id) {
    auto request = KeyRequest<v1::GetDocumentRequest>(id);
    request.set_touch(true);
    return engine().Get(request);
  }

  absl::Status Delete(const std::string& id, const std::string& if_match = "") {
    auto request = KeyRequest<v1::DeleteDocumentRequest>(id);
    request.set_if_match(if_match);
    return engine().Delete(request).status();
  }

  // Ids of the visible documents, page by page; "ERROR" if a call fails.
  std::vector<std::string> QueryIds(int page_size = 1000) {
    std::vector<std::string> ids;
    v1::QueryDocumentsRequest request;
    request.set_container(kContainer);
    request.set_page_size(page_size);
    do {
      const auto response = engine().Query(request);
      if (!response.ok()) return {"ERROR"};
      for (const v1::Document& document : response->documents()) ids.push_back(document.id());
      request.set_page_token(response->next_page_token());
    } while (!request.page_token().empty());
    return ids;
  }

  int64_t CountStored() { return store_->table->CountsOf(kContainer).stored; }

  std::optional<ttl::v1::Item> Tracked(const std::string& id) {
    return sidecar.Find(kContainer, kPartition, id);
  }

  // The DeleteItems call that a sweep would make now.
  ttl::v1::DeleteItemsRequest Sweep(bool with_etag = true) {
    ttl::v1::DeleteItemsRequest request;
    request.set_container(kContainer);
    request.mutable_not_after()->set_seconds(clocks.now() + 60);
    for (ttl::v1::ExpiredItem& item : sidecar.Expired(kContainer)) {
      if (!with_etag) item.clear_etag();
      *request.add_items() = std::move(item);
    }
    return request;
  }

  static v1::Document MakeDocument(const std::string& id, std::optional<int64_t> ttl,
                                   const std::string& body = "body") {
    v1::Document document;
    document.set_partition_key(kPartition);
    document.set_id(id);
    document.set_body(body);
    if (ttl) document.set_ttl(*ttl);
    return document;
  }

  template <typename Request>
  static Request KeyRequest(const std::string& id) {
    Request request;
    request.set_container(kContainer);
    request.set_partition_key(kPartition);
    request.set_id(id);
    return request;
  }

  TwoClocks clocks;
  ttl::FakeItemService sidecar;

 private:
  template <typename Response>
  static absl::StatusOr<v1::Document> DocumentOf(absl::StatusOr<Response> response) {
    if (!response.ok()) return response.status();
    return response->document();
  }

  ttl::TempDir directory_;
  const absl::Duration retry_interval_;
  std::unique_ptr<RunningStore> store_;
};

}  // namespace documentstore

#endif  // TTL_TESTS_UNIT_EXAMPLES_DOCUMENT_STORE_FOR_TEST_H_
