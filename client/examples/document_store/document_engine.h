#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_ENGINE_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_ENGINE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/examples/document_store/document_table.h"
#include "client/examples/document_store/reporter.h"
#include "client/examples/document_store/sidecar_client.h"
#include "documentstore/v1/document_service.pb.h"
#include "ttl/local_evaluator.h"

namespace documentstore {

// The store's clock, which stamps ts.
using Clock = std::function<absl::Time()>;

// DocumentService, which the clients of the store call, without the transport. Errors are those in
// document_service.proto. Thread-safe.
class DocumentEngine {
 public:
  // Writes are refused while this many changes are not reported yet.
  static constexpr int64_t kMaxUnreported = 100'000;

  // All arguments must outlive the engine. If `evaluator` is not null, it judges reads as far as it
  // can; writes always ask the sidecar.
  DocumentEngine(DocumentTable& table, SidecarClient& sidecar, Reporter& reporter, Clock clock,
                 ttl::LocalEvaluator* evaluator = nullptr)
      : table_(table),
        sidecar_(sidecar),
        reporter_(reporter),
        clock_(std::move(clock)),
        evaluator_(evaluator) {}

  absl::StatusOr<v1::CreateDocumentResponse> Create(const v1::CreateDocumentRequest& request);
  absl::StatusOr<v1::PutDocumentsResponse> Put(const v1::PutDocumentsRequest& request);
  absl::StatusOr<v1::ReplaceDocumentResponse> Replace(const v1::ReplaceDocumentRequest& request);
  absl::StatusOr<v1::TouchDocumentResponse> Touch(const v1::TouchDocumentRequest& request);
  absl::StatusOr<v1::SetDocumentTtlResponse> SetTtl(const v1::SetDocumentTtlRequest& request);
  absl::StatusOr<v1::GetDocumentResponse> Get(const v1::GetDocumentRequest& request);
  absl::StatusOr<v1::QueryDocumentsResponse> Query(const v1::QueryDocumentsRequest& request);
  absl::StatusOr<v1::DeleteDocumentResponse> Delete(const v1::DeleteDocumentRequest& request);
  absl::StatusOr<v1::CountStoredDocumentsResponse> Count(
      const v1::CountStoredDocumentsRequest& request);

 private:
  // A document as stored, and whether that version is visible.
  struct Judged {
    std::optional<DocumentRecord> stored;
    bool visible = false;
    google::protobuf::Timestamp judged_at;
    // First second at which it is expired, or kNever; nullopt if the sidecar does not know or was
    // not asked.
    std::optional<int64_t> end;

    // What clients see; null if the document is missing or expired.
    const DocumentRecord* shown() const { return visible ? &*stored : nullptr; }
  };

  // The next version of a document (only body and ttl are used, the rest is stamped), nullopt to
  // delete it, or an error to change nothing.
  using NextVersion = absl::StatusOr<std::optional<DocumentRecord>>;

  // Decides on the present version. `ts` is that of the next one.
  using Decision = std::function<NextVersion(const Judged& judged, int64_t ts)>;

  // Why a document is judged.
  enum class Purpose { kRead, kWrite };
  absl::StatusOr<Judged> Judge(const DocumentKey& key, Purpose purpose);

  // The answer to the checks of a read or a write.
  absl::StatusOr<ttl::v1::CheckVisibilityResponse> Check(
      const ttl::v1::CheckVisibilityRequest& request, Purpose purpose);

  // Returns `judged`, which was just found visible, if it is still the stored version; otherwise
  // the stored version, if that is visible.
  absl::StatusOr<std::optional<DocumentRecord>> VisibleVersion(const DocumentKey& key,
                                                               const DocumentRecord& judged);

  // Changes one document: judges it, calls `decide`, commits if the judged version is still stored,
  // and reports. Returns the change.
  absl::StatusOr<Change> ChangeOne(const DocumentKey& key, const Decision& decide);

  // Writes the documents of a valid request, without reporting them.
  absl::StatusOr<std::vector<Change>> CommitAll(const v1::PutDocumentsRequest& request);

  // OK if a write may begin: the sidecar knows the container, and the outbox is not full.
  absl::Status Admit(const std::string& container);

  // ts of a version that is written now and replaces `stored`.
  absl::StatusOr<int64_t> NextTs(const std::optional<DocumentRecord>& stored) const;

  // Starts the countdown of a document again; false if the sidecar did not, because the document is
  // expired or not reported yet, or the sidecar away or in doubt.
  absl::StatusOr<bool> TouchInSidecar(const DocumentKey& key);

  absl::Status Report(const std::string& container, const std::vector<Change>& changes);

  DocumentTable& table_;
  SidecarClient& sidecar_;
  Reporter& reporter_;
  const Clock clock_;
  ttl::LocalEvaluator* const evaluator_;  // may be null
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_ENGINE_H_
