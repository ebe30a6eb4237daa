// The example store archives what expires behind a gate, while sidecar and store, which the
// archiver is a part of, are killed again and again in the middle of it. Whatever is purged is in
// the archive, and in the end all that has expired is.
//
//   TTL_KILL_ROUNDS  number of rounds with a kill each, default 8

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/examples/document_store/document_table.h"
#include "documentstore/v1/document_service.grpc.pb.h"
#include "google/protobuf/util/json_util.h"
#include "service/storage/storage.h"
#include "tests/testing/document_store_process.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/feed_service.grpc.pb.h"

namespace ttl {
namespace {

using documentstore::v1::Document;
using documentstore::v1::DocumentService;
using testing::IsEmpty;

constexpr int kRounds = 8;
constexpr int kDocumentsPerRound = 200;
constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr char kContainer[] = "orders";

int Rounds() {
  const char* text = std::getenv("TTL_KILL_ROUNDS");
  int rounds = 0;
  return text != nullptr && absl::SimpleAtoi(text, &rounds) ? rounds : kRounds;
}

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Call(Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                           Response*),
                              const std::decay_t<Request>& request) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  context.set_wait_for_ready(true);
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (status.ok()) return response;
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

class ArchiveKillTest : public testing::Test {
 protected:
  // Who is killed in a round.
  enum class Victim { kSidecar, kStore, kBoth, kArchiver };

  DocumentStoreProcessOptions StoreOptions(std::vector<std::string> flags) const {
    return {.dir = dir_.path(),
            .sidecar_address = sidecar_.address(),
            .flags = std::move(flags),
            .env = {}};
  }

  void SetUp() override {
    ASSERT_EQ(sidecar_.Start(), absl::OkStatus());
    v1::CreateContainerRequest create;
    create.mutable_container()->set_id(kContainer);
    create.mutable_container()->set_default_ttl(-1);
    create.mutable_container()->mutable_feed();
    const auto created = Call(*containers_, &v1::ContainerService::Stub::CreateContainer, create);
    ASSERT_TRUE(created.ok()) << created.status();
    v1::CreateSubscriptionRequest subscribe;
    v1::Subscription& subscription = *subscribe.mutable_subscription();
    subscription.set_container(kContainer);
    subscription.set_name("archive");
    subscription.add_kinds(v1::EVENT_KIND_EXPIRED);
    subscription.set_gate(true);
    const auto subscribed = Call(*feed_, &v1::FeedService::Stub::CreateSubscription, subscribe);
    ASSERT_TRUE(subscribed.ok()) << subscribed.status();
    ASSERT_EQ(store_.Start(), absl::OkStatus());
  }

  void TearDown() override {
    if (!HasFailure()) return;
    ADD_FAILURE() << "log of the sidecar:\n"
                  << sidecar_.Log() << "\nof the store:\n"
                  << store_.Log();
  }

  // Writes documents with these ttls in turn; absent for 0.
  void Write(const std::string& prefix, int count, const std::vector<int64_t>& ttls) {
    documentstore::v1::PutDocumentsRequest request;
    request.set_container(kContainer);
    for (int i = 0; i < count; ++i) {
      Document& document = *request.add_documents();
      document.set_partition_key("p");
      document.set_id(absl::StrCat(prefix, i));
      document.set_body(absl::StrCat("body of ", document.id()));
      const int64_t ttl = ttls[static_cast<size_t>(i) % ttls.size()];
      if (ttl != 0) document.set_ttl(ttl);
    }
    const auto put = Call(*documents_, &DocumentService::Stub::PutDocuments, request);
    ASSERT_TRUE(put.ok()) << put.status();
    for (int i = 0; i < count; ++i) {
      Document document = put->documents(i);
      document.set_body(request.documents(i).body());
      written_[document.id()] = document;
    }
  }

  // The whole lines of the archive, without repetitions. Fails where one is not a document as it
  // was written.
  std::set<std::string> Archived() const {
    std::set<std::string> ids;
    std::ifstream file(archive_);
    for (std::string line; std::getline(file, line);) {
      if (file.eof()) break;  // it is just being written, or was torn by a kill
      Document document;
      EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(line, &document).ok()) << line;
      const auto found = written_.find(document.id());
      EXPECT_TRUE(found != written_.end() &&
                  found->second.SerializeAsString() == document.SerializeAsString())
          << line;
      ids.insert(document.id());
    }
    return ids;
  }

  // Documents that are neither stored nor archived. Requires that the store is not running.
  std::vector<std::string> Lost() const {
    const auto table = documentstore::DocumentTable::Open(store_.data_dir());
    EXPECT_TRUE(table.ok()) << table.status();
    std::set<std::string> there = Archived();
    const auto page = (*table)->Scan(documentstore::AllDocumentsPrefix(), "", 1 << 20);
    EXPECT_TRUE(page.ok() && page->next.empty()) << page.status();
    for (const auto& [key, record] : page->documents) there.insert(key.id);
    std::vector<std::string> lost;
    for (const auto& [id, document] : written_) {
      if (!there.contains(id)) lost.push_back(id);
    }
    return lost;
  }

  int64_t Stored() {
    documentstore::v1::CountStoredDocumentsRequest request;
    request.set_container(kContainer);
    const auto count = Call(*documents_, &DocumentService::Stub::CountStoredDocuments, request);
    return count.ok() ? count->stored() : -1;
  }

  int64_t Gated() {
    v1::GetExpiryStatusRequest request;
    request.set_container(kContainer);
    const auto status = Call(*expiry_, &v1::ExpiryService::Stub::GetExpiryStatus, request);
    return status.ok() ? status->container().feed().gated_items() : -1;
  }

  // Kills and starts again, and looks for what is lost in between.
  void Kill(Victim victim) {
    const bool kills_sidecar = victim == Victim::kSidecar || victim == Victim::kBoth;
    const bool kills_store = victim != Victim::kSidecar;
    if (kills_store) store_.Kill();
    if (kills_sidecar) sidecar_.Kill();
    if (kills_store) {
      EXPECT_THAT(Lost(), IsEmpty());
    }
    if (kills_sidecar) {
      ASSERT_EQ(sidecar_.Start(), absl::OkStatus());
    }
    if (victim == Victim::kArchiver) BeWithoutArchiver();
    if (kills_store) {
      ASSERT_EQ(store_.Start(), absl::OkStatus());
    }
  }

  // The store runs without its archiver until something waits for it.
  void BeWithoutArchiver() {
    DocumentStoreProcess bare(StoreOptions({}));
    ASSERT_EQ(bare.Start(), absl::OkStatus());
    const size_t before = Archived().size();
    Write(absl::StrCat("unseen", written_.size(), "-"), 20, {1});
    ASSERT_TRUE(WaitUntil([&] { return Gated() >= 20; }, kPatience)) << Gated();
    bare.Kill();
    EXPECT_EQ(Archived().size(), before);
    EXPECT_THAT(Lost(), IsEmpty());
  }

  absl::Status CheckDataOfSidecar() const {
    StorageOptions options;
    options.directory = sidecar_.data_dir();
    const auto storage = Storage::Open(options);
    return storage.ok() ? (*storage)->CheckInvariants() : storage.status();
  }

  const TempDir dir_;
  const std::string archive_ = dir_.File("archive.jsonl");
  SidecarProcess sidecar_{{.dir = dir_.path(),
                           .store_address = "unix:" + dir_.File("store.sock"),
                           .flags = {},
                           .env = {}}};
  DocumentStoreProcess store_{StoreOptions({"--archive", kContainer, "--archive-file", archive_})};
  const std::unique_ptr<v1::ContainerService::Stub> containers_ =
      v1::ContainerService::NewStub(sidecar_.channel());
  const std::unique_ptr<v1::ExpiryService::Stub> expiry_ =
      v1::ExpiryService::NewStub(sidecar_.channel());
  const std::unique_ptr<v1::FeedService::Stub> feed_ = v1::FeedService::NewStub(sidecar_.channel());
  const std::unique_ptr<DocumentService::Stub> documents_ =
      DocumentService::NewStub(store_.channel());
  std::map<std::string, Document> written_;  // as acknowledged, by id
};

TEST_F(ArchiveKillTest, WhatIsPurgedIsInTheArchiveAndInTheEndAllThatHasExpiredIs) {
  constexpr int kLive = 40;
  ASSERT_NO_FATAL_FAILURE(Write("live", kLive, {0, 86400}));
  const int rounds = Rounds();
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    const size_t before = Archived().size();
    ASSERT_NO_FATAL_FAILURE(
        Write(absl::StrCat("expires", round, "-"), kDocumentsPerRound, {1, 2, 3}));
    // The first of them are archived, and the others are not yet expired.
    ASSERT_TRUE(WaitUntil([&] { return Archived().size() > before; }, kPatience));
    ASSERT_NO_FATAL_FAILURE(Kill(static_cast<Victim>(round % 4)));
  }
  const size_t expiring = written_.size() - kLive;
  EXPECT_TRUE(WaitUntil([&] { return Stored() == kLive; }, kPatience)) << Stored();
  EXPECT_EQ(Archived().size(), expiring);
  EXPECT_EQ(Archived().count("live0"), 0u);

  EXPECT_EQ(store_.Stop(), absl::OkStatus());
  EXPECT_THAT(Lost(), IsEmpty());
  EXPECT_EQ(sidecar_.Stop(), absl::OkStatus());
  EXPECT_EQ(CheckDataOfSidecar(), absl::OkStatus());
}

}  // namespace
}  // namespace ttl
