#include "tests/bench/workload/worker.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/workload/wall_time.h"

namespace ttl::workload {
namespace {

using documentstore::v1::Document;
using documentstore::v1::DocumentService;

// Of the writes of a key "whether it exists or not" the published traces do not
// say how many rewrite a document that is there; these shares exercise every
// kind of write the store has.
constexpr double kReplaceShare = 0.2;
constexpr double kTouchShare = 0.1;
// Of the replacements, those with the right and those with a wrong if_match.
constexpr double kIfMatchShare = 0.5;
constexpr double kWrongIfMatchShare = 0.1;

// Where no Zipf exponent was fitted.
constexpr double kUnfittedAlpha = 1.0;

// How far judged_at may lie outside the call as timed by us.
constexpr absl::Duration kClockTolerance = absl::Milliseconds(5);
// How long before its instant of expiry a document is probed.
constexpr absl::Duration kProbeLead = absl::Milliseconds(2);
// A probe later than this would tell nothing about the boundary.
constexpr absl::Duration kProbeStale = absl::Milliseconds(50);
constexpr absl::Duration kBoundary = absl::Milliseconds(10);
constexpr absl::Duration kRetryPause = absl::Milliseconds(20);
constexpr absl::Duration kReconnectWait = absl::Seconds(1);
// After a deadline the server may still be at work on the call.
constexpr absl::Duration kLingerPause = absl::Seconds(2);

bool IsUnanswered(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::INTERNAL:
      return true;
    default:
      return false;
  }
}

std::string Describe(const grpc::Status& status) {
  return absl::StrCat("answered with code ", status.error_code(), ": ", status.error_message());
}

std::optional<int64_t> TtlOf(const Document& document) {
  return document.has_ttl() ? std::optional<int64_t>(document.ttl()) : std::nullopt;
}

DocumentState StateOf(const Document& document, std::optional<uint32_t> version) {
  return {.ts = document.ts(), .ttl = TtlOf(document), .version = version, .etag = document.etag()};
}

uint64_t StrideFor(uint64_t n) {
  uint64_t stride = std::max<uint64_t>(1, n * 5 / 8);
  while (std::gcd(stride, n) != 1) ++stride;
  return stride;
}

}  // namespace

Worker::Shard::Shard(const ContainerPlan& container_plan, double alpha)
    : plan(container_plan),
      oracle(container_plan.default_ttl(), container_plan.documents_per_worker()),
      popularity(container_plan.documents_per_worker(), alpha),
      stride(StrideFor(container_plan.documents_per_worker())) {}

Worker::Worker(const WorkloadOptions& options, const std::vector<ContainerPlan>& plans, int number,
               const std::shared_ptr<grpc::Channel>& channel)
    : options_(options),
      number_(number),
      channel_(channel),
      stub_(DocumentService::NewStub(channel)),
      random_(Mix(options.seed) ^ static_cast<uint64_t>(number)) {
  double rate = 0;
  for (const ContainerPlan& plan : plans) {
    shards_.emplace_back(plan, plan.cluster().zipf_alpha.value_or(kUnfittedAlpha));
    cumulative_rates_.push_back(rate += plan.cluster().rate_kqps);
  }
}

void Worker::Load(const std::atomic<bool>& stop) {
  const auto batch = static_cast<uint32_t>(options_.batch_documents);
  for (Shard& shard : shards_) {
    const uint32_t end = shard.plan.documents_per_worker();
    for (uint32_t first = 0; first < end && !stop && !gave_up_; first += batch) {
      Put(shard, first, std::min(first + batch, end));
    }
  }
}

void Worker::RunOperation() {
  if (RunDueProbe()) return;
  const Target target = Draw();
  const OperationShares& shares = target.shard->plan.cluster().operations;
  const double total = shares.get + shares.set + shares.add + shares.remove;
  const double draw = random_.Fraction() * total;
  if (draw < shares.get) {
    random_.Chance(options_.query_share) ? Query(target) : Get(target);
  } else if (draw < shares.get + shares.set) {
    Write(target);
  } else if (draw < shares.get + shares.set + shares.add) {
    Create(target);
  } else {
    Delete(target);
  }
}

Worker::Target Worker::Draw() {
  const double draw = random_.Fraction() * cumulative_rates_.back();
  const auto found = std::upper_bound(cumulative_rates_.begin(), cumulative_rates_.end(), draw);
  Shard& shard = shards_[static_cast<size_t>(found - cumulative_rates_.begin())];
  const uint64_t rank = shard.popularity.Sample(random_) - 1;
  return {&shard, static_cast<uint32_t>(rank * shard.stride % shard.oracle.documents())};
}

bool Worker::RunDueProbe() {
  const absl::Time now = WallNow();
  while (!probes_.empty() && probes_.top().due <= now) {
    const Probe probe = probes_.top();
    probes_.pop();
    if (now - probe.due > kProbeStale) continue;
    Get(probe.target);
    return true;
  }
  return false;
}

void Worker::Write(Target target) {
  const double draw = random_.Fraction();
  if (draw < kReplaceShare) {
    Replace(target);
  } else if (draw < kReplaceShare + kTouchShare) {
    Touch(target);
  } else {
    Put(*target.shard, target.number, target.number + 1);
  }
}

void Worker::Put(Shard& shard, uint32_t first, uint32_t end) {
  documentstore::v1::PutDocumentsRequest request;
  request.set_container(shard.plan.id());
  const uint32_t first_version = last_version_ + 1;
  for (uint32_t number = first; number < end; ++number) {
    *request.add_documents() = NewDocument({&shard, number});
  }
  documentstore::v1::PutDocumentsResponse response;
  const Answer answer = Call(&DocumentService::Stub::PutDocuments, request, &response);
  tally_.puts += end - first;
  const bool complete = response.documents_size() == request.documents_size();
  for (uint32_t number = first; number < end; ++number) {
    const Target target{&shard, number};
    const int i = static_cast<int>(number - first);
    const uint32_t version = first_version + (number - first);
    if (answer.status.ok() && complete) {
      Acknowledge("put", target, version, request.documents(i), response.documents(i), answer);
    } else {
      shard.oracle.MaybeWritten(number, version, TtlOf(request.documents(i)), answer.sent);
    }
  }
  if (answer.status.ok() && complete) return;
  if (IsUnanswered(answer.status)) {
    NoteUnanswered(answer);
  } else {
    Mismatch("put", {&shard, first},
             complete ? Describe(answer.status) : "answered with too few documents");
  }
  for (uint32_t number = first; number < end; ++number) Resolve({&shard, number});
}

void Worker::Create(Target target) {
  documentstore::v1::CreateDocumentRequest request;
  request.set_container(target.shard->plan.id());
  *request.mutable_document() = NewDocument(target);
  const uint32_t version = last_version_;
  documentstore::v1::CreateDocumentResponse response;
  const Answer answer = Call(&DocumentService::Stub::CreateDocument, request, &response);
  ++tally_.creates;
  if (answer.status.ok()) {
    JudgeHidden("create", target, answer);
    Acknowledge("create", target, version, request.document(), response.document(), answer);
  } else if (answer.status.error_code() == grpc::StatusCode::ALREADY_EXISTS) {
    const auto wrong = target.shard->oracle.CheckExisted(target.number, answer.sent);
    if (wrong.has_value()) Mismatch("create", target, *wrong);
  } else if (IsUnanswered(answer.status)) {
    target.shard->oracle.MaybeWritten(target.number, version, TtlOf(request.document()),
                                      answer.sent);
    NoteUnanswered(answer);
    Resolve(target);
  } else {
    Mismatch("create", target, Describe(answer.status));
  }
}

void Worker::Replace(Target target) {
  documentstore::v1::ReplaceDocumentRequest request;
  request.set_container(target.shard->plan.id());
  *request.mutable_document() = NewDocument(target);
  const uint32_t version = last_version_;
  const bool wrong_if_match = random_.Chance(kWrongIfMatchShare);
  if (wrong_if_match) {
    request.set_if_match("no such etag");
  } else if (random_.Chance(kIfMatchShare)) {
    request.set_if_match(target.shard->oracle.Etag(target.number));
  }
  documentstore::v1::ReplaceDocumentResponse response;
  const Answer answer = Call(&DocumentService::Stub::ReplaceDocument, request, &response);
  ++tally_.replaces;
  if (wrong_if_match && answer.status.error_code() == grpc::StatusCode::ABORTED) {
    const auto wrong = target.shard->oracle.CheckExisted(target.number, answer.sent);
    if (wrong.has_value()) Mismatch("replace", target, *wrong);
  } else if (IsUnanswered(answer.status)) {
    target.shard->oracle.MaybeWritten(target.number, version, TtlOf(request.document()),
                                      answer.sent);
    NoteUnanswered(answer);
    Resolve(target);
  } else if (JudgeConditional("replace", target, answer)) {
    if (wrong_if_match) Mismatch("replace", target, "accepted although if_match is wrong");
    Acknowledge("replace", target, version, request.document(), response.document(), answer);
  }
}

void Worker::Touch(Target target) {
  Oracle& oracle = target.shard->oracle;
  const DocumentKey key = target.shard->plan.Key(Place(target));
  documentstore::v1::TouchDocumentRequest request;
  request.set_container(target.shard->plan.id());
  request.set_partition_key(key.partition_key);
  request.set_id(key.id);
  documentstore::v1::TouchDocumentResponse response;
  const Answer answer = Call(&DocumentService::Stub::TouchDocument, request, &response);
  ++tally_.touches;
  const std::optional<uint32_t> version = oracle.Version(target.number);
  Document as_before;
  if (const auto ttl = oracle.Ttl(target.number); ttl.has_value()) as_before.set_ttl(*ttl);
  if (IsUnanswered(answer.status)) {
    NoteUnanswered(answer);
    if (!version.has_value()) return;
    oracle.MaybeWritten(target.number, *version, oracle.Ttl(target.number), answer.sent);
    Resolve(target);
  } else if (JudgeConditional("touch", target, answer)) {
    Acknowledge("touch", target, version.value_or(0), as_before, response.document(), answer);
  }
}

void Worker::Delete(Target target) {
  const DocumentKey key = target.shard->plan.Key(Place(target));
  documentstore::v1::DeleteDocumentRequest request;
  request.set_container(target.shard->plan.id());
  request.set_partition_key(key.partition_key);
  request.set_id(key.id);
  documentstore::v1::DeleteDocumentResponse response;
  const Answer answer = Call(&DocumentService::Stub::DeleteDocument, request, &response);
  ++tally_.deletes;
  if (IsUnanswered(answer.status)) {
    target.shard->oracle.MaybeDeleted(target.number);
    NoteUnanswered(answer);
    Resolve(target);
  } else if (JudgeConditional("delete", target, answer)) {
    target.shard->oracle.Deleted(target.number);
  }
}

bool Worker::JudgeConditional(const char* what, Target target, const Answer& answer) {
  if (answer.status.ok()) {
    const auto wrong = target.shard->oracle.CheckExisted(target.number, answer.sent);
    if (wrong.has_value()) Mismatch(what, target, *wrong);
    return true;
  }
  if (answer.status.error_code() == grpc::StatusCode::NOT_FOUND) {
    JudgeHidden(what, target, answer);
  } else {
    Mismatch(what, target, Describe(answer.status));
  }
  return false;
}

void Worker::Get(Target target) {
  const DocumentKey key = target.shard->plan.Key(Place(target));
  documentstore::v1::GetDocumentRequest request;
  request.set_container(target.shard->plan.id());
  request.set_partition_key(key.partition_key);
  request.set_id(key.id);
  documentstore::v1::GetDocumentResponse response;
  const Answer answer = Call(&DocumentService::Stub::GetDocument, request, &response);
  ++tally_.gets;
  if (answer.status.ok()) {
    JudgeShown("get", target, response.document(), true, ToTime(response.judged_at()), answer);
  } else if (answer.status.error_code() == grpc::StatusCode::NOT_FOUND) {
    JudgeHidden("get", target, answer);
  } else if (IsUnanswered(answer.status)) {
    NoteUnanswered(answer);
  } else {
    Mismatch("get", target, Describe(answer.status));
  }
}

void Worker::Query(Target target) {
  Shard& shard = *target.shard;
  documentstore::v1::QueryDocumentsRequest request;
  request.set_container(shard.plan.id());
  request.set_partition_key(shard.plan.Key(Place(target)).partition_key);
  request.set_omit_bodies(random_.Chance(0.5));
  const uint32_t first = shard.plan.PartitionFirst(target.number);
  std::vector<bool> shown(shard.plan.PartitionEnd(target.number) - first);
  ++tally_.queries;
  Answer answer;
  do {
    documentstore::v1::QueryDocumentsResponse response;
    answer = Call(&DocumentService::Stub::QueryDocuments, request, &response);
    if (IsUnanswered(answer.status)) return NoteUnanswered(answer);
    if (!answer.status.ok()) return Mismatch("query", target, Describe(answer.status));
    for (const Document& document : response.documents()) {
      const auto place = shard.plan.Find(document.partition_key(), document.id());
      const uint32_t offset = place.has_value() ? place->number - first : 0;
      if (!place.has_value() || place->worker != number_ || offset >= shown.size() ||
          shown[offset]) {
        Mismatch("query", target, "returned a document twice or one that is not of the partition");
        continue;
      }
      shown[offset] = true;
      JudgeShown("query", {&shard, place->number}, document, !request.omit_bodies(),
                 ToTime(response.judged_at()), answer);
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  for (uint32_t offset = 0; offset < shown.size(); ++offset) {
    if (!shown[offset]) JudgeHidden("query", {&shard, first + offset}, answer);
  }
}

template <typename Request, typename Response>
Worker::Answer Worker::Call(grpc::Status (DocumentService::Stub::*method)(grpc::ClientContext*,
                                                                          const Request&,
                                                                          Response*),
                            const Request& request, Response* response) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(WallNow() + options_.call_deadline));
  Answer answer;
  answer.sent = WallNow();
  answer.status = (*stub_.*method)(&context, request, response);
  answer.received = WallNow();
  return answer;
}

Document Worker::NewDocument(Target target) {
  const ContainerPlan& plan = target.shard->plan;
  const uint32_t version = ++last_version_;
  DocumentKey key = plan.Key(Place(target));
  Document document;
  document.set_partition_key(std::move(key.partition_key));
  document.set_id(std::move(key.id));
  document.set_body(plan.Body(Place(target), version));
  if (const auto ttl = plan.Ttl(Place(target), version); ttl.has_value()) document.set_ttl(*ttl);
  return document;
}

void Worker::Acknowledge(const char* what, Target target, uint32_t version, const Document& sent,
                         const Document& answered, const Answer& answer) {
  if (TtlOf(answered) != TtlOf(sent)) Mismatch(what, target, "answered with another ttl");
  if (answered.etag().empty()) Mismatch(what, target, "answered without an etag");
  if (answered.ts() < absl::ToUnixSeconds(answer.sent) ||
      answered.ts() > absl::ToUnixSeconds(answer.received)) {
    Mismatch(what, target, absl::StrCat("stamped ", answered.ts(), ", outside the call"));
  }
  target.shard->oracle.Written(target.number, StateOf(answered, version));
  PlanProbes(target);
}

void Worker::JudgeShown(const char* what, Target target, const Document& document, bool with_body,
                        absl::Time judged_at, const Answer& answer) {
  ++tally_.shown;
  const Oracle& oracle = target.shard->oracle;
  if (judged_at < answer.sent - kClockTolerance || judged_at > answer.received + kClockTolerance) {
    Mismatch(what, target,
             absl::StrCat("judged outside the call, at ",
                          absl::FormatTime(judged_at, absl::UTCTimeZone())));
  }
  const auto version =
      with_body ? ContainerPlan::VersionOf(document.body()) : std::optional<uint32_t>();
  const auto wrong = oracle.CheckFound(target.number, StateOf(document, version), judged_at);
  if (wrong.has_value()) return Mismatch(what, target, *wrong);
  if (with_body && document.body() != target.shard->plan.Body(Place(target), *version)) {
    Mismatch(what, target, "another body than was written");
  }
  const absl::Duration left = oracle.ExpireTime(target.number) - judged_at;
  tally_.at_boundary += left < kBoundary;
}

void Worker::JudgeHidden(const char* what, Target target, const Answer& answer) {
  ++tally_.hidden;
  const Oracle& oracle = target.shard->oracle;
  const auto wrong = oracle.CheckMissing(target.number, answer.received);
  if (wrong.has_value()) return Mismatch(what, target, *wrong);
  tally_.at_boundary += answer.received - oracle.ExpireTime(target.number) < kBoundary;
}

void Worker::PlanProbes(Target target) {
  const absl::Time expire_time = target.shard->oracle.ExpireTime(target.number);
  if (expire_time == absl::InfiniteFuture()) return;
  // Not from random_, whose draws must not depend on the answers.
  const uint64_t which =
      uint64_t{target.number} << 32 | *target.shard->oracle.Version(target.number);
  if (!Random(which).Chance(options_.probe_share)) return;
  probes_.push({expire_time - kProbeLead, target});
  probes_.push({expire_time, target});
}

void Worker::NoteUnanswered(const Answer& answer) {
  ++tally_.unanswered;
  const bool lingers = answer.status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  std::this_thread::sleep_for(absl::ToChronoMilliseconds(lingers ? kLingerPause : kRetryPause));
  // A connection is made only while somebody waits for it.
  channel_->WaitForConnected(absl::ToChronoTime(WallNow() + kReconnectWait));
}

void Worker::Resolve(Target target) {
  ++tally_.resolved;
  const absl::Time give_up = WallNow() + options_.unavailable_deadline;
  while (!gave_up_ && !TryResolve(target)) {
    if (WallNow() < give_up) continue;
    Mismatch("resolve", target, "the store does not answer any more");
    gave_up_ = true;
  }
}

bool Worker::TryResolve(Target target) {
  const DocumentKey key = target.shard->plan.Key(Place(target));
  documentstore::v1::GetDocumentRequest request;
  request.set_container(target.shard->plan.id());
  request.set_partition_key(key.partition_key);
  request.set_id(key.id);
  documentstore::v1::GetDocumentResponse response;
  const Answer answer = Call(&DocumentService::Stub::GetDocument, request, &response);
  if (IsUnanswered(answer.status)) {
    NoteUnanswered(answer);
    return false;
  }
  Oracle& oracle = target.shard->oracle;
  const Document& document = response.document();
  const auto version = ContainerPlan::VersionOf(document.body());
  std::optional<std::string> wrong;
  if (answer.status.ok()) {
    wrong = oracle.ResolveFound(target.number, StateOf(document, version),
                                ToTime(response.judged_at()));
  } else if (answer.status.error_code() == grpc::StatusCode::NOT_FOUND) {
    wrong = oracle.ResolveMissing(target.number, answer.received);
  } else {
    wrong = Describe(answer.status);
  }
  if (wrong.has_value()) Mismatch("resolve", target, *wrong);
  return true;
}

void Worker::Mismatch(const char* what, Target target, const std::string& description) {
  const DocumentKey key = target.shard->plan.Key(Place(target));
  tally_.AddMismatch(absl::StrCat(absl::FormatTime("%H:%M:%E3S", WallNow(), absl::UTCTimeZone()),
                                  " ", what, " ", target.shard->plan.id(), " ", key.partition_key,
                                  " ", absl::BytesToHexString(key.id), ": ", description));
}

}  // namespace ttl::workload
