#include "client/examples/document_store/document_store_server.h"

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "documentstore/v1/document_service.grpc.pb.h"
#include "service/base/mutex.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/examples/document_store_for_test.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace documentstore {
namespace {

class DocumentStoreServerTest : public testing::Test, public DocumentStoreForTest {
 protected:
  std::unique_ptr<DocumentStoreServer> Serve() {
    auto server =
        DocumentStoreServer::Start(address_, engine(), store().primary_store,
                                   [this](const std::string& container, double request_units) {
                                     const ttl::MutexLock lock(mutex_);
                                     used_[container] += request_units;
                                   });
    EXPECT_TRUE(server.ok()) << server.status();
    return *std::move(server);
  }

  std::shared_ptr<grpc::Channel> Channel() const {
    return grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  }

  double Used(const std::string& container) {
    const ttl::MutexLock lock(mutex_);
    return used_[container];
  }

  const ttl::TempDir sockets_;
  const std::string address_ = "unix:" + sockets_.File("store.sock");
  ttl::Mutex mutex_;
  std::map<std::string, double> used_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(DocumentStoreServerTest, ASocketThatAServerAnswersOnIsNotTaken) {
  {
    const auto first = Serve();
    const auto second = DocumentStoreServer::Start(address_, engine(), store().primary_store,
                                                   [](const std::string&, double) {});
    EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition) << second.status();
    grpc::ClientContext info;
    ttl::v1::GetStoreInfoResponse store_info;
    EXPECT_TRUE(ttl::v1::PrimaryStoreService::NewStub(Channel())
                    ->GetStoreInfo(&info, {}, &store_info)
                    .ok());
  }
  Serve();  // once it has ended, another may
}

TEST_F(DocumentStoreServerTest, ServesClientsAndSidecarOnOneSocket) {
  const auto server = Serve();
  const auto documents = v1::DocumentService::NewStub(Channel());
  const auto primary_store = ttl::v1::PrimaryStoreService::NewStub(Channel());
  ASSERT_TRUE(Put("a", 10).ok());

  grpc::ClientContext get;
  v1::GetDocumentResponse got;
  ASSERT_TRUE(documents->GetDocument(&get, KeyRequest<v1::GetDocumentRequest>("a"), &got).ok());
  EXPECT_EQ(got.document().body(), "body");
  EXPECT_EQ(got.judged_at().seconds(), clocks.now());

  grpc::ClientContext info;
  ttl::v1::GetStoreInfoResponse store_info;
  ASSERT_TRUE(primary_store->GetStoreInfo(&info, {}, &store_info).ok());
  EXPECT_EQ(store_info.store_id(), store().table->store_id());

  clocks.Advance(10);
  grpc::ClientContext sweep;
  ttl::v1::DeleteItemsResponse deleted;
  ASSERT_TRUE(primary_store->DeleteItems(&sweep, Sweep(), &deleted).ok());
  ASSERT_EQ(deleted.results_size(), 1);
  EXPECT_EQ(deleted.results(0).outcome(), ttl::v1::DELETE_OUTCOME_DELETED);
}

// A message that was inflated would be many times what was sent.
TEST_F(DocumentStoreServerTest, CompressedCallsAreRefusedBeforeTheyAreInflated) {
  const auto server = Serve();
  const auto primary_store = ttl::v1::PrimaryStoreService::NewStub(Channel());
  const auto code_of = [&](grpc_compression_algorithm algorithm) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    ttl::v1::DeleteItemsRequest request = Sweep();
    request.set_container(std::string(1 << 20, 'x'));
    ttl::v1::DeleteItemsResponse response;
    return primary_store->DeleteItems(&context, request, &response).error_code();
  };
  EXPECT_EQ(code_of(GRPC_COMPRESS_GZIP), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_NE(code_of(GRPC_COMPRESS_NONE), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(DocumentStoreServerTest, ErrorsKeepTheirCodeAndMessage) {
  const auto server = Serve();
  grpc::ClientContext context;
  v1::GetDocumentResponse response;
  const grpc::Status status = v1::DocumentService::NewStub(Channel())->GetDocument(
      &context, KeyRequest<v1::GetDocumentRequest>("a"), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "there is no such document");
}

TEST_F(DocumentStoreServerTest, EveryRequestHasItsPriceWhetherItSucceedsOrNot) {
  const auto server = Serve();
  const auto documents = v1::DocumentService::NewStub(Channel());
  const std::string container = KeyRequest<v1::GetDocumentRequest>("a").container();

  grpc::ClientContext get;
  v1::GetDocumentResponse got;
  EXPECT_FALSE(documents->GetDocument(&get, KeyRequest<v1::GetDocumentRequest>("a"), &got).ok());
  EXPECT_EQ(Used(container), 1);

  grpc::ClientContext put;
  v1::PutDocumentsRequest request;
  request.set_container(container);
  for (const char* id : {"a", "b", "c"}) request.add_documents()->set_id(id);
  v1::PutDocumentsResponse written;
  ASSERT_TRUE(documents->PutDocuments(&put, request, &written).ok());
  EXPECT_EQ(Used(container), 1 + 3 * 5);

  grpc::ClientContext remove;
  v1::DeleteDocumentResponse removed;
  EXPECT_FALSE(
      documents->DeleteDocument(&remove, KeyRequest<v1::DeleteDocumentRequest>("z"), &removed)
          .ok());
  EXPECT_EQ(Used(container), 1 + 4 * 5);

  grpc::ClientContext set;
  auto set_ttl = KeyRequest<v1::SetDocumentTtlRequest>("z");
  set_ttl.set_ttl(60);
  v1::SetDocumentTtlResponse with_ttl;
  EXPECT_EQ(documents->SetDocumentTtl(&set, set_ttl, &with_ttl).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Used(container), 1 + 5 * 5);
  EXPECT_EQ(Used("another"), 0);
}

TEST_F(DocumentStoreServerTest, AddressThatCannotBeListenedOnIsAnError) {
  const auto server = DocumentStoreServer::Start("unix:" + sockets_.File("none/store.sock"),
                                                 engine(), store().primary_store, nullptr);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kNotFound);
}

TEST_F(DocumentStoreServerTest, DataOfARunningStoreCannotBeOpenedTwice) {
  ttl::TempDir directory;
  const auto first = DocumentTable::Open(directory.path());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(DocumentTable::Open(directory.path()).ok());
}

}  // namespace
}  // namespace documentstore
