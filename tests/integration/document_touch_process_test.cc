// The example store against a real sidecar: what its readers touch lives on, and what they do not
// ends at its second, whoever judges the reads.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "documentstore/v1/document_service.grpc.pb.h"
#include "tests/testing/document_store_process.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"

namespace ttl {
namespace {

using documentstore::v1::DocumentService;

constexpr absl::Duration kPatience = absl::Seconds(60);

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> CallOnce(Stub& stub,
                                  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                               Response*),
                                  const std::decay_t<Request>& request) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (status.ok()) return response;
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

// With the flags of the store.
class DocumentTouchProcessTest : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  void SetUp() override {
    ASSERT_EQ(sidecar_.Start(), absl::OkStatus());
    ASSERT_EQ(store_.Start(), absl::OkStatus());
  }

  void Create(const std::string& container, bool allow_touch) {
    v1::CreateContainerRequest request;
    request.mutable_container()->set_id(container);
    request.mutable_container()->set_default_ttl(-1);
    request.mutable_container()->set_allow_touch(allow_touch);
    const auto created =
        CallOnce(*containers_, &v1::ContainerService::Stub::CreateContainer, request);
    ASSERT_TRUE(created.ok()) << created.status();
  }

  void Put(const std::string& container, const std::vector<std::string>& ids, int64_t ttl) {
    documentstore::v1::PutDocumentsRequest request;
    request.set_container(container);
    for (const std::string& id : ids) {
      request.add_documents()->set_id(id);
      request.mutable_documents()->rbegin()->set_ttl(ttl);
    }
    const auto put = CallOnce(*documents_, &DocumentService::Stub::PutDocuments, request);
    ASSERT_TRUE(put.ok()) << put.status();
  }

  absl::StatusOr<documentstore::v1::GetDocumentResponse> Get(const std::string& container,
                                                             const std::string& id,
                                                             bool touch = false) {
    documentstore::v1::GetDocumentRequest request;
    request.set_container(container);
    request.set_id(id);
    request.set_touch(touch);
    return CallOnce(*documents_, &DocumentService::Stub::GetDocument, request);
  }

  int64_t Stored(const std::string& container) {
    documentstore::v1::CountStoredDocumentsRequest request;
    request.set_container(container);
    const auto counted =
        CallOnce(*documents_, &DocumentService::Stub::CountStoredDocuments, request);
    return counted.ok() ? counted->stored() : -1;
  }

  const TempDir dir_;
  SidecarProcess sidecar_{{.dir = dir_.path(),
                           .store_address = "unix:" + dir_.File("store.sock"),
                           .flags = {},
                           .env = {}}};
  DocumentStoreProcess store_{
      {.dir = dir_.path(), .sidecar_address = sidecar_.address(), .flags = GetParam(), .env = {}}};
  const std::unique_ptr<v1::ContainerService::Stub> containers_ =
      v1::ContainerService::NewStub(sidecar_.channel());
  const std::unique_ptr<DocumentService::Stub> documents_ =
      DocumentService::NewStub(store_.channel());
};

INSTANTIATE_TEST_SUITE_P(Judges, DocumentTouchProcessTest,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--judge-locally"}));

TEST_P(DocumentTouchProcessTest, WhatIsReadWithATouchOutlivesWhatIsReadWithout) {
  ASSERT_NO_FATAL_FAILURE(Create("c", /*allow_touch=*/true));
  constexpr int64_t kTtl = 6;
  ASSERT_NO_FATAL_FAILURE(Put("c", {"read", "touched"}, kTtl));
  const absl::Time enough = absl::Now() + absl::Seconds(2 * kTtl);
  // Read again and again until it is twice as old as it could get without a touch.
  bool is_touched = false;
  EXPECT_TRUE(WaitUntil(
      [&] {
        const auto touched = Get("c", "touched", /*touch=*/true);
        EXPECT_TRUE(touched.ok()) << touched.status();
        is_touched = is_touched || (touched.ok() && touched->touched());
        const auto plain = Get("c", "touched");
        EXPECT_TRUE(plain.ok() && !plain->touched()) << plain.status();
        return HasFailure() || absl::Now() >= enough;
      },
      kPatience, absl::Milliseconds(100)));
  EXPECT_TRUE(is_touched);
  EXPECT_EQ(Get("c", "read").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(WaitUntil([&] { return Stored("c") == 0; }, kPatience)) << Stored("c");
  EXPECT_GE(absl::Now(), enough + absl::Seconds(kTtl / 2));
  EXPECT_EQ(Get("c", "touched", /*touch=*/true).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(DocumentTouchProcessTest, AContainerThatDoesNotAllowItRefuses) {
  ASSERT_NO_FATAL_FAILURE(Create("c", /*allow_touch=*/false));
  ASSERT_NO_FATAL_FAILURE(Put("c", {"a"}, 3600));
  EXPECT_EQ(Get("c", "a", /*touch=*/true).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Get("c", "a").ok());
}

}  // namespace
}  // namespace ttl
