#include "tests/bench/workload/workload.h"

#include <grpcpp/client_context.h>

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/bench/workload/wall_time.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"

namespace ttl::workload {
namespace {

constexpr int kQueryPageSize = 1000;
constexpr absl::Duration kCountInterval = absl::Milliseconds(200);

absl::Status ToStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

DocumentState StateOf(const documentstore::v1::Document& document) {
  return {.ts = document.ts(),
          .ttl = document.has_ttl() ? std::optional<int64_t>(document.ttl()) : std::nullopt,
          .version = ContainerPlan::VersionOf(document.body()),
          .etag = document.etag()};
}

}  // namespace

Workload::Workload(const WorkloadOptions& options, const std::shared_ptr<grpc::Channel>& store)
    : options_(options),
      plans_(PlanContainers(options_)),
      stub_(documentstore::v1::DocumentService::NewStub(store)) {
  for (int number = 0; number < options_.workers; ++number) {
    workers_.push_back(std::make_unique<Worker>(options_, plans_, number, store));
  }
}

absl::Status Workload::CreateContainers(const std::shared_ptr<grpc::Channel>& sidecar) const {
  const auto stub = ttl::v1::ContainerService::NewStub(sidecar);
  for (const ContainerPlan& plan : plans_) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(WallNow() + options_.call_deadline));
    context.set_wait_for_ready(true);
    ttl::v1::CreateContainerRequest request;
    request.mutable_container()->set_id(plan.id());
    request.mutable_container()->set_default_ttl(plan.default_ttl());
    ttl::v1::CreateContainerResponse response;
    const grpc::Status status = stub->CreateContainer(&context, request, &response);
    if (!status.ok()) return ToStatus(status);
  }
  return absl::OkStatus();
}

void Workload::Load(const std::atomic<bool>& stop) {
  RunInThreads([&stop](Worker& worker) { worker.Load(stop); });
}

void Workload::Run(absl::Duration duration, int64_t operations, const std::atomic<bool>& stop) {
  const absl::Time end = WallNow() + duration;
  std::atomic<int64_t> left = operations;
  RunInThreads([&](Worker& worker) {
    while (!stop && !worker.gave_up() && WallNow() < end && left-- > 0) worker.RunOperation();
  });
}

void Workload::RunInThreads(const std::function<void(Worker&)>& body) {
  std::vector<std::thread> threads;
  for (const auto& worker : workers_) threads.emplace_back(body, std::ref(*worker));
  for (std::thread& thread : threads) thread.join();
}

absl::StatusOr<StoreCount> Workload::Count(size_t container) const {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(WallNow() + options_.call_deadline));
  documentstore::v1::CountStoredDocumentsRequest request;
  request.set_container(plans_[container].id());
  documentstore::v1::CountStoredDocumentsResponse response;
  StoreCount count;
  count.live_before = CountLive(container, WallNow());
  const grpc::Status status = stub_->CountStoredDocuments(&context, request, &response);
  if (!status.ok()) return ToStatus(status);
  count.live_after = CountLive(container, WallNow());
  count.stored = response.stored();
  return count;
}

absl::Status Workload::AwaitExactStore(absl::Duration deadline) const {
  const absl::Time end = WallNow() + deadline;
  for (size_t container = 0; container < plans_.size(); ++container) {
    absl::StatusOr<StoreCount> count;
    const bool settled = WaitUntil(
        [&] {
          count = Count(container);
          return count.ok() && (count->IsExact() || count->HasLost());
        },
        end - WallNow(), kCountInterval);
    if (!count.ok()) return count.status();
    const std::string what = absl::StrCat(plans_[container].id(), " holds ", count->stored,
                                          " documents, ", count->live_after, " are live");
    if (count->HasLost()) return absl::DataLossError(what);
    if (!settled) {
      return absl::DeadlineExceededError(
          absl::StrCat(what, " after ", absl::FormatDuration(deadline)));
    }
  }
  return absl::OkStatus();
}

absl::Status Workload::CompareContents() {
  for (size_t container = 0; container < plans_.size(); ++container) {
    if (absl::Status status = CompareContainer(container); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Workload::CompareContainer(size_t container) {
  const ContainerPlan& plan = plans_[container];
  std::vector<std::vector<bool>> shown(workers_.size(),
                                       std::vector<bool>(plan.documents_per_worker()));
  documentstore::v1::QueryDocumentsRequest request;
  request.set_container(plan.id());
  request.set_page_size(kQueryPageSize);
  do {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(WallNow() + options_.call_deadline));
    documentstore::v1::QueryDocumentsResponse response;
    const grpc::Status status = stub_->QueryDocuments(&context, request, &response);
    if (!status.ok()) return ToStatus(status);
    for (const auto& document : response.documents()) {
      CompareShown(container, document, ToTime(response.judged_at()), shown);
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  CompareHidden(container, shown, WallNow());
  return absl::OkStatus();
}

void Workload::CompareShown(size_t container, const documentstore::v1::Document& document,
                            absl::Time judged_at, std::vector<std::vector<bool>>& shown) {
  const ContainerPlan& plan = plans_[container];
  const auto place = plan.Find(document.partition_key(), document.id());
  if (!place.has_value()) {
    return own_tally_.AddMismatch(absl::StrCat("query ", plan.id(), ": a key never written"));
  }
  const auto worker = static_cast<size_t>(place->worker);
  if (shown[worker][place->number]) {
    own_tally_.AddMismatch(absl::StrCat("query ", plan.id(), ": a document shown twice"));
  }
  shown[worker][place->number] = true;
  ++own_tally_.shown;
  const DocumentState state = StateOf(document);
  const auto wrong =
      workers_[worker]->oracle(container).CheckFound(place->number, state, judged_at);
  if (wrong.has_value()) {
    own_tally_.AddMismatch(absl::StrCat("query ", plan.id(), ": ", *wrong));
  } else if (document.body() != plan.Body(*place, state.version.value_or(0))) {
    own_tally_.AddMismatch(absl::StrCat("query ", plan.id(), ": another body than was written"));
  }
}

void Workload::CompareHidden(size_t container, const std::vector<std::vector<bool>>& shown,
                             absl::Time received) {
  for (size_t worker = 0; worker < workers_.size(); ++worker) {
    const Oracle& oracle = workers_[worker]->oracle(container);
    for (uint32_t number = 0; number < oracle.documents(); ++number) {
      if (shown[worker][number]) continue;
      ++own_tally_.hidden;
      if (const auto wrong = oracle.CheckMissing(number, received); wrong.has_value()) {
        own_tally_.AddMismatch(absl::StrCat("query ", plans_[container].id(), ": ", *wrong));
      }
    }
  }
}

int64_t Workload::CountLive(size_t container, absl::Time at) const {
  int64_t live = 0;
  for (const auto& worker : workers_) live += worker->oracle(container).CountLive(at);
  return live;
}

int64_t Workload::CountLive(absl::Time at) const {
  int64_t live = 0;
  for (size_t container = 0; container < plans_.size(); ++container)
    live += CountLive(container, at);
  return live;
}

int64_t Workload::planned_documents() const {
  int64_t documents = 0;
  for (const ContainerPlan& plan : plans_) {
    documents += int64_t{plan.documents_per_worker()} * options_.workers;
  }
  return documents;
}

Tally Workload::Total() const {
  Tally total = own_tally_;
  for (const auto& worker : workers_) total.Add(worker->tally());
  return total;
}

}  // namespace ttl::workload
