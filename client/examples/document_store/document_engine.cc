#include "client/examples/document_store/document_engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/examples/document_store/document_message.h"
#include "client/examples/document_store/local_checks.h"
#include "client/examples/document_store/proto_time.h"
#include "client/examples/document_store/ttl_condition.h"
#include "spdlog/spdlog.h"

namespace documentstore {
namespace {

// Maximum attempts of a call whose document is changed concurrently.
constexpr int kMaxTries = 100;
constexpr int kMaxDocumentsPerCall = 1000;
constexpr int kDefaultPageSize = 100;
constexpr size_t kMaxBodyBytes = 2 << 20;

absl::Status MissingDocument() { return absl::NotFoundError("there is no such document"); }

absl::Status KeepsChanging() {
  return absl::UnavailableError("the document keeps changing; try again");
}

// Converts the sidecar's status for the store's client. Unknown errors are UNAVAILABLE: the store
// never guesses what is visible.
absl::Status ForClient(const absl::Status& status, const std::string& container) {
  if (absl::IsNotFound(status)) {
    return absl::FailedPreconditionError(absl::StrCat("the sidecar has no container \"", container,
                                                      "\"; create it there (ttlctl) first"));
  }
  if (absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status)) {
    return absl::FailedPreconditionError(absl::StrCat("the sidecar refuses: ", status.message()));
  }
  return absl::UnavailableError(
      absl::StrCat("the sidecar does not answer: ",
                   status.ToString(absl::StatusToStringMode::kWithNoExtraData)));
}

// Whether the same call may succeed later: the sidecar cannot judge, is slow, or has no room.
bool IsNotNow(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

absl::Status ValidateKey(const DocumentKey& key, const std::string& where) {
  const auto at_most = [&](absl::string_view field, size_t size, size_t limit) {
    if (size <= limit) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(where, field, " has ", size, " bytes; at most ", limit, " are allowed"));
  };
  if (key.container.empty()) return absl::InvalidArgumentError("container is empty");
  auto status = at_most("container", key.container.size(), 255);
  status.Update(at_most("partition_key", key.partition_key.size(), 2048));
  status.Update(at_most("id", key.id.size(), 1023));
  return status;
}

absl::Status ValidateTtl(int64_t ttl, const std::string& where, absl::string_view allowed) {
  if (ttl == -1 || (ttl >= 1 && ttl <= std::numeric_limits<int32_t>::max())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(where, "ttl is ", ttl, "; it must be ", allowed, "-1 or 1 to 2147483647"));
}

// What the sidecar would refuse must be refused before it is written.
absl::Status ValidateDocument(const std::string& container, const v1::Document& document,
                              const std::string& where) {
  absl::Status status = ValidateKey({container, document.partition_key(), document.id()}, where);
  if (document.has_ttl()) status.Update(ValidateTtl(document.ttl(), where, "absent, "));
  constexpr int64_t kMaxExpireAt = 253402300799;  // the end of the year 9999
  const bool legal_expire_at = !document.has_expire_at() ||
                               (document.expire_at() >= 1 && document.expire_at() <= kMaxExpireAt);
  if (!legal_expire_at) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat(where, "expire_at is ", document.expire_at(),
                     "; it must be absent, or Unix seconds from 1 to ", kMaxExpireAt)));
  }
  if (document.body().size() > kMaxBodyBytes) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat(where, "body has ", document.body().size(), " bytes; at most ", kMaxBodyBytes,
                     " are allowed")));
  }
  return status;
}

DocumentRecord ToRecord(const v1::Document& document) {
  DocumentRecord record;
  record.set_body(document.body());
  if (document.has_ttl()) record.set_ttl(document.ttl());
  if (document.has_expire_at()) record.set_expire_at(document.expire_at());
  return record;
}

absl::Status RequireMatch(const DocumentRecord* shown, const std::string& if_match) {
  if (shown == nullptr) return MissingDocument();
  if (if_match.empty() || if_match == EtagOf(*shown)) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("if_match is \"", if_match, "\" but the etag is \"", EtagOf(*shown), "\""));
}

bool SameVersion(const std::optional<DocumentRecord>& a, const std::optional<DocumentRecord>& b) {
  return (a ? a->sequence() : 0) == (b ? b->sequence() : 0);
}

// A check that carries the version just read, so that the answer is right even if the sidecar does
// not know this version yet.
void AddCheck(ttl::v1::CheckVisibilityRequest& request, const DocumentKey& key,
              const DocumentRecord& record) {
  ttl::v1::VisibilityCheck& check = *request.add_checks();
  check.set_partition_key(key.partition_key);
  check.set_id(key.id);
  check.set_ts(record.ts());
  if (record.has_ttl()) check.set_ttl(record.ttl());
  if (record.has_expire_at()) check.set_expire_at(record.expire_at());
}

// The change that replaces `stored` by `next`.
Change Stamp(const DocumentKey& key, const std::optional<DocumentRecord>& stored,
             std::optional<DocumentRecord> next, int64_t ts, uint64_t sequence) {
  Change change{key, sequence, stored ? stored->ts() : 0, std::move(next), stored.has_value()};
  if (!change.record) return change;
  change.ts = ts;
  change.record->set_ts(ts);
  change.record->set_sequence(sequence);
  return change;
}

// When a document ends, by the answer to its check; nullopt if that does not tell.
std::optional<int64_t> EndIn(const ttl::v1::CheckVisibilityResponse& answer) {
  const bool tells =
      answer.expire_times_size() == 1 && answer.visibilities(0) != ttl::v1::VISIBILITY_UNTRACKED;
  if (!tells) return std::nullopt;
  return answer.expire_times(0) == 0 ? kNever : answer.expire_times(0);
}

bool Shown(ttl::v1::Visibility visibility) { return visibility != ttl::v1::VISIBILITY_EXPIRED; }

template <typename Request>
DocumentKey KeyOf(const Request& request) {
  return {request.container(), request.partition_key(), request.id()};
}

DocumentKey KeyOf(const std::string& container, const v1::Document& document) {
  return {container, document.partition_key(), document.id()};
}

std::string PrefixOf(const v1::QueryDocumentsRequest& request) {
  return request.has_partition_key() ? PartitionPrefix(request.container(), request.partition_key())
                                     : ContainerPrefix(request.container());
}

absl::Status ValidateQuery(const v1::QueryDocumentsRequest& request) {
  auto status = ValidateKey({request.container(), request.partition_key(), ""}, "");
  if (!status.ok()) return status;
  if (request.page_size() < 0 || request.page_size() > kMaxDocumentsPerCall) {
    return absl::InvalidArgumentError(absl::StrCat("page_size is ", request.page_size(), "; 0 to ",
                                                   kMaxDocumentsPerCall, " are allowed"));
  }
  if (!request.page_token().empty() && !absl::StartsWith(request.page_token(), PrefixOf(request))) {
    return absl::InvalidArgumentError("page_token is not of this query");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ttl::v1::CheckVisibilityResponse> DocumentEngine::Check(
    const ttl::v1::CheckVisibilityRequest& request, Purpose purpose) {
  if (evaluator_ != nullptr && purpose == Purpose::kRead) {
    if (auto answer = CheckLocally(*evaluator_, request); answer.has_value()) return *answer;
  }
  auto answer = sidecar_.Check(request);
  if (!answer.ok()) return ForClient(answer.status(), request.container());
  return answer;
}

absl::StatusOr<DocumentEngine::Judged> DocumentEngine::Judge(const DocumentKey& key,
                                                             Purpose purpose) {
  for (int i = 0; i < kMaxTries; ++i) {
    auto stored = table_.Get(key);
    if (!stored.ok()) return stored.status();
    if (!*stored) return Judged();
    ttl::v1::CheckVisibilityRequest request;
    request.set_container(key.container);
    AddCheck(request, key, **stored);
    const auto answer = Check(request, purpose);
    if (!answer.ok()) return answer.status();
    // The sidecar judges the newest version it knows, which may have been
    // written after we read ours.
    auto again = table_.Get(key);
    if (!again.ok()) return again.status();
    if (SameVersion(*stored, *again)) {
      return Judged{*std::move(stored), Shown(answer->visibilities(0)), answer->judged_at(),
                    EndIn(*answer)};
    }
  }
  return KeepsChanging();
}

absl::Status DocumentEngine::Admit(const std::string& container) {
  if (table_.CountUnreported() >= kMaxUnreported) {
    return absl::UnavailableError(
        absl::StrCat(kMaxUnreported, " changes wait to be reported to the sidecar"));
  }
  const absl::Status status = sidecar_.RequireContainer(container);
  return status.ok() ? status : ForClient(status, container);
}

absl::StatusOr<int64_t> DocumentEngine::NextTs(const std::optional<DocumentRecord>& stored) const {
  // A clock that steps back must not make the new version older than the one
  // it replaces.
  const int64_t ts = std::max(stored ? stored->ts() : 0, absl::ToUnixSeconds(clock_()));
  if (ts < 1) return absl::UnavailableError("the store's clock is before 1970");
  return ts;
}

absl::Status DocumentEngine::Report(const std::string& container,
                                    const std::vector<Change>& changes) {
  const absl::Status status = reporter_.Report(container, changes);
  if (status.ok()) return status;
  const absl::Status cause = ForClient(status, container);
  return absl::Status(cause.code(),
                      absl::StrCat("written, but not reported yet: ", cause.message()));
}

absl::StatusOr<Change> DocumentEngine::ChangeOne(const DocumentKey& key, const Decision& decide) {
  if (auto status = Admit(key.container); !status.ok()) return status;
  for (int i = 0; i < kMaxTries; ++i) {
    // Asked without holding the lock, so that deletes and other writers are not blocked meanwhile.
    const auto judged = Judge(key, Purpose::kWrite);
    if (!judged.ok()) return judged.status();
    const auto ts = NextTs(judged->stored);
    if (!ts.ok()) return ts.status();
    auto next = decide(*judged, *ts);
    if (!next.ok()) return next.status();

    auto lock = table_.locks().Lock({EncodeKey(key)});
    const auto stored = table_.Get(key);
    if (!stored.ok()) return stored.status();
    if (!SameVersion(*stored, judged->stored)) continue;
    const auto sequence = table_.ReserveSequences(1);
    if (!sequence.ok()) return sequence.status();
    Change change = Stamp(key, *stored, *std::move(next), *ts, *sequence);
    if (auto status = table_.Commit({change}); !status.ok()) return status;
    lock.clear();

    if (auto status = Report(key.container, {change}); !status.ok()) return status;
    return change;
  }
  return KeepsChanging();
}

absl::StatusOr<v1::CreateDocumentResponse> DocumentEngine::Create(
    const v1::CreateDocumentRequest& request) {
  const v1::Document& document = request.document();
  auto status = ValidateDocument(request.container(), document, "document.");
  if (!status.ok()) return status;
  const DocumentKey key = KeyOf(request.container(), document);
  const auto change = ChangeOne(key, [&](const Judged& judged, int64_t) -> NextVersion {
    if (judged.visible) return absl::AlreadyExistsError("the document exists");
    return ToRecord(document);
  });
  if (!change.ok()) return change.status();
  v1::CreateDocumentResponse response;
  *response.mutable_document() = WithoutBody(key, *change->record);
  return response;
}

absl::StatusOr<v1::ReplaceDocumentResponse> DocumentEngine::Replace(
    const v1::ReplaceDocumentRequest& request) {
  const v1::Document& document = request.document();
  auto status = ValidateDocument(request.container(), document, "document.");
  if (!status.ok()) return status;
  const DocumentKey key = KeyOf(request.container(), document);
  const auto change = ChangeOne(key, [&](const Judged& judged, int64_t) -> NextVersion {
    if (auto match = RequireMatch(judged.shown(), request.if_match()); !match.ok()) return match;
    return ToRecord(document);
  });
  if (!change.ok()) return change.status();
  v1::ReplaceDocumentResponse response;
  *response.mutable_document() = WithoutBody(key, *change->record);
  return response;
}

absl::StatusOr<v1::TouchDocumentResponse> DocumentEngine::Touch(
    const v1::TouchDocumentRequest& request) {
  const DocumentKey key = KeyOf(request);
  if (auto status = ValidateKey(key, ""); !status.ok()) return status;
  const auto change = ChangeOne(key, [](const Judged& judged, int64_t) -> NextVersion {
    if (!judged.visible) return MissingDocument();
    return *judged.shown();
  });
  if (!change.ok()) return change.status();
  v1::TouchDocumentResponse response;
  *response.mutable_document() = WithoutBody(key, *change->record);
  return response;
}

absl::StatusOr<v1::SetDocumentTtlResponse> DocumentEngine::SetTtl(
    const v1::SetDocumentTtlRequest& request) {
  const DocumentKey key = KeyOf(request);
  auto status = ValidateKey(key, "");
  status.Update(ValidateTtl(request.ttl(), "", ""));
  if (!status.ok()) return status;
  const auto change = ChangeOne(key, [&](const Judged& judged, int64_t ts) -> NextVersion {
    if (!judged.visible) return MissingDocument();
    DocumentRecord next = *judged.shown();
    next.set_ttl(request.ttl());
    // A concurrent touch is as good as one after this write, from which it would count.
    auto met = RequireCondition(request.condition(), judged.end, EndOf(next, ts));
    if (!met.ok()) return met;
    return next;
  });
  if (!change.ok()) return change.status();
  v1::SetDocumentTtlResponse response;
  *response.mutable_document() = WithoutBody(key, *change->record);
  return response;
}

absl::StatusOr<v1::DeleteDocumentResponse> DocumentEngine::Delete(
    const v1::DeleteDocumentRequest& request) {
  const DocumentKey key = KeyOf(request);
  if (auto status = ValidateKey(key, ""); !status.ok()) return status;
  const auto change = ChangeOne(key, [&](const Judged& judged, int64_t) -> NextVersion {
    if (auto match = RequireMatch(judged.shown(), request.if_match()); !match.ok()) return match;
    return std::nullopt;
  });
  if (!change.ok()) return change.status();
  spdlog::debug("user-delete: container=\"{}\" sequence={}", absl::CHexEscape(key.container),
                change->sequence);
  return v1::DeleteDocumentResponse();
}

absl::StatusOr<v1::PutDocumentsResponse> DocumentEngine::Put(
    const v1::PutDocumentsRequest& request) {
  const int count = request.documents_size();
  if (count < 1 || count > kMaxDocumentsPerCall) {
    return absl::InvalidArgumentError(absl::StrCat("documents has ", count, " entries; 1 to ",
                                                   kMaxDocumentsPerCall, " are allowed"));
  }
  for (int i = 0; i < count; ++i) {
    auto status = ValidateDocument(request.container(), request.documents(i),
                                   absl::StrCat("documents[", i, "]."));
    if (!status.ok()) return status;
  }
  if (auto status = Admit(request.container()); !status.ok()) return status;
  const auto changes = CommitAll(request);
  if (!changes.ok()) return changes.status();
  if (auto status = Report(request.container(), *changes); !status.ok()) return status;

  v1::PutDocumentsResponse response;
  for (const Change& change : *changes) {
    *response.add_documents() = WithoutBody(change.key, *change.record);
  }
  return response;
}

absl::StatusOr<std::vector<Change>> DocumentEngine::CommitAll(
    const v1::PutDocumentsRequest& request) {
  std::vector<std::string> keys;
  for (const v1::Document& document : request.documents()) {
    keys.push_back(EncodeKey(KeyOf(request.container(), document)));
  }
  const auto lock = table_.locks().Lock(keys);
  const auto sequence = table_.ReserveSequences(request.documents_size());
  if (!sequence.ok()) return sequence.status();
  std::vector<Change> changes;
  absl::flat_hash_map<std::string, size_t> latest;  // a key may occur twice
  for (const v1::Document& document : request.documents()) {
    const size_t i = changes.size();
    const DocumentKey key = KeyOf(request.container(), document);
    const auto earlier = latest.find(keys[i]);
    const auto stored = earlier == latest.end() ? table_.Get(key) : changes[earlier->second].record;
    if (!stored.ok()) return stored.status();
    const auto ts = NextTs(*stored);
    if (!ts.ok()) return ts.status();
    changes.push_back(Stamp(key, *stored, ToRecord(document), *ts, *sequence + i));
    latest[keys[i]] = i;
  }
  if (auto status = table_.Commit(changes); !status.ok()) return status;
  return changes;
}

absl::StatusOr<v1::GetDocumentResponse> DocumentEngine::Get(const v1::GetDocumentRequest& request) {
  const DocumentKey key = KeyOf(request);
  if (auto status = ValidateKey(key, ""); !status.ok()) return status;
  // Before it is judged: in the other order it could expire in between.
  absl::StatusOr<bool> touched(false);
  if (request.touch()) touched = TouchInSidecar(key);
  if (!touched.ok()) return touched.status();
  const auto judged = Judge(key, Purpose::kRead);
  if (!judged.ok()) return judged.status();
  if (judged->shown() == nullptr) return MissingDocument();
  v1::GetDocumentResponse response;
  *response.mutable_document() = ToDocument(key, *judged->shown());
  *response.mutable_judged_at() = judged->judged_at;
  response.set_touched(*touched);
  return response;
}

absl::StatusOr<bool> DocumentEngine::TouchInSidecar(const DocumentKey& key) {
  const auto result = sidecar_.Touch(key);
  // Whether the document can be shown is for the check to say.
  if (IsNotNow(result.status())) return false;
  if (!result.ok()) return ForClient(result.status(), key.container);
  return *result == ttl::v1::TOUCH_RESULT_TOUCHED || *result == ttl::v1::TOUCH_RESULT_RECENT;
}

absl::StatusOr<v1::QueryDocumentsResponse> DocumentEngine::Query(
    const v1::QueryDocumentsRequest& request) {
  if (auto status = ValidateQuery(request); !status.ok()) return status;
  const int limit = request.page_size() == 0 ? kDefaultPageSize : request.page_size();
  const auto page = table_.Scan(PrefixOf(request), request.page_token(), limit);
  if (!page.ok()) return page.status();

  ttl::v1::CheckVisibilityRequest checks;
  checks.set_container(request.container());
  for (const auto& [key, record] : page->documents) AddCheck(checks, key, record);
  if (page->documents.empty())
    checks.add_checks();  // still checks the container, and gets the time
  const auto answer = Check(checks, Purpose::kRead);
  if (!answer.ok()) return answer.status();

  v1::QueryDocumentsResponse response;
  response.set_next_page_token(page->next);
  *response.mutable_judged_at() = answer->judged_at();
  for (size_t i = 0; i < page->documents.size(); ++i) {
    if (!Shown(answer->visibilities(static_cast<int>(i)))) continue;
    const auto& [key, record] = page->documents[i];
    const auto current = VisibleVersion(key, record);
    if (!current.ok()) return current.status();
    if (!*current) continue;
    *response.add_documents() =
        request.omit_bodies() ? WithoutBody(key, **current) : ToDocument(key, **current);
  }
  return response;
}

absl::StatusOr<std::optional<DocumentRecord>> DocumentEngine::VisibleVersion(
    const DocumentKey& key, const DocumentRecord& judged) {
  auto stored = table_.Get(key);
  if (!stored.ok()) return stored.status();
  if (SameVersion(*stored, judged)) return stored;
  auto again = Judge(key, Purpose::kRead);
  if (!again.ok()) return again.status();
  return again->visible ? std::move(again->stored) : std::nullopt;
}

absl::StatusOr<v1::CountStoredDocumentsResponse> DocumentEngine::Count(
    const v1::CountStoredDocumentsRequest& request) {
  const DocumentTable::Counts counts = table_.CountsOf(request.container());
  v1::CountStoredDocumentsResponse response;
  response.set_stored(counts.stored);
  response.set_expired_deleted(counts.expired_deleted);
  if (counts.last_expired_delete) {
    *response.mutable_last_expired_delete_time() = ToProto(*counts.last_expired_delete);
  }
  return response;
}

}  // namespace documentstore
