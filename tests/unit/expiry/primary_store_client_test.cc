#include "service/expiry/store/primary_store_client.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/security/credentials.h"
#include "service/base/done.h"
#include "service/expiry/store/retry_info.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/freezable_forwarder.h"
#include "tests/testing/retry_info_status.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

const absl::Time kStoreNow = absl::FromUnixSeconds(1'800'000'000);

constexpr char kTraceParent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

struct PrimaryStoreClientTest : testing::Test {
  FakePrimaryStore store{[] { return kStoreNow; }};
  PrimaryStoreClient client{store.address(), grpc::InsecureChannelCredentials()};
};

v1::DeleteItemsRequest MakeRequest() {
  v1::DeleteItemsRequest request;
  request.set_container("c");
  request.mutable_not_after()->set_seconds(absl::ToUnixSeconds(kStoreNow) + 5);
  request.add_items()->set_id("a");
  return request;
}

absl::StatusOr<v1::GetStoreInfoResponse> GetInfo(PrimaryStoreClient& client,
                                                 absl::Duration deadline) {
  return Await<absl::StatusOr<v1::GetStoreInfoResponse>>(
      [&](auto done) { client.GetStoreInfo(deadline, std::move(done)); });
}

absl::StatusOr<v1::DeleteItemsResponse> Delete(PrimaryStoreClient& client,
                                               absl::Duration deadline) {
  const v1::DeleteItemsRequest request = MakeRequest();
  return Await<absl::StatusOr<v1::DeleteItemsResponse>>(
      [&](auto done) { client.DeleteItems(request, kTraceParent, deadline, std::move(done)); });
}

TEST_F(PrimaryStoreClientTest, AnswersComeBack) {
  const auto info = GetInfo(client, absl::Seconds(10));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->store_id(), "fake-store");
  EXPECT_EQ(info->now().seconds(), absl::ToUnixSeconds(kStoreNow));
  const auto deleted = Delete(client, absl::Seconds(10));
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->results(0).outcome(), v1::DELETE_OUTCOME_NOT_FOUND);
}

TEST_F(PrimaryStoreClientTest, ADeleteHasItsTraceParent) {
  ASSERT_TRUE(Delete(client, absl::Seconds(10)).ok());
  EXPECT_EQ(store.ReceivedDeletes().at(0).trace_parents, std::vector<std::string>{kTraceParent});
}

TEST_F(PrimaryStoreClientTest, AFailedCallIsMadeOnce) {
  store.SetBeforeDelete([](auto&, auto&) -> std::optional<grpc::Status> {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "busy");
  });
  const auto deleted = Delete(client, absl::Seconds(10));
  EXPECT_EQ(deleted.status(), absl::UnavailableError("busy"));
  EXPECT_EQ(store.ReceivedDeletes().size(), 1u);
}

TEST_F(PrimaryStoreClientTest, ACallEndsAtItsDeadline) {
  store.Hang();
  const auto deleted = Delete(client, absl::Milliseconds(50));
  EXPECT_TRUE(absl::IsDeadlineExceeded(deleted.status())) << deleted.status();
}

TEST_F(PrimaryStoreClientTest, CancelEndsTheCallUnderWayAndRefusesLaterOnes) {
  store.Hang();
  absl::Status status;
  std::thread calling([&] { status = Delete(client, absl::Hours(1)).status(); });
  EXPECT_TRUE(WaitUntil([&] { return store.HangingCalls() == 1; }));
  client.Cancel();
  calling.join();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_TRUE(absl::IsCancelled(GetInfo(client, absl::Seconds(10)).status()));
  EXPECT_EQ(store.InfoCalls(), 0);
}

TEST_F(PrimaryStoreClientTest, CallsDoNotWaitForEachOther) {
  store.Hang("c");
  const v1::DeleteItemsRequest hanging = MakeRequest();
  std::promise<void> ended;
  client.DeleteItems(hanging, kTraceParent, absl::Hours(1), [&](const auto& response) {
    EXPECT_TRUE(absl::IsCancelled(response.status()));
    ended.set_value();
  });
  EXPECT_TRUE(WaitUntil([&] { return store.HangingCalls() == 1; }));
  EXPECT_TRUE(GetInfo(client, absl::Seconds(10)).ok());
  client.Cancel();
  ended.get_future().wait();
}

TEST_F(PrimaryStoreClientTest, TheWishToWaitComesWithTheError) {
  store.SetBeforeDelete([](auto&, auto&) -> std::optional<grpc::Status> {
    return WithRetryInfo(grpc::StatusCode::RESOURCE_EXHAUSTED, absl::Seconds(7));
  });
  const absl::Status status = Delete(client, absl::Seconds(10)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(RetryAfterOf(status), absl::Seconds(7));
}

// Connections that pass nothing any more, and say nothing of it.
struct DeadConnectionTest : testing::Test {
  FakePrimaryStore store{[] { return kStoreNow; }};
  FreezableForwarder forwarder{store.address()};
  PrimaryStoreClient client{forwarder.address(), grpc::InsecureChannelCredentials()};

  absl::Status Scan(absl::Duration deadline) {
    v1::ScanItemsRequest request;
    request.set_container("c");
    request.set_max_items(10);
    return client.ScanItems(request, deadline, [](const auto&) { return true; });
  }
};

constexpr absl::Duration kDeadline = absl::Milliseconds(300);
constexpr absl::Duration kPatience = absl::Seconds(30);

TEST_F(DeadConnectionTest, OneCallIsLostWhateverItIs) {
  const std::function<absl::Status()> calls[] = {
      [&] { return Delete(client, kDeadline).status(); },
      [&] { return GetInfo(client, kDeadline).status(); },
      [&] { return Scan(kDeadline); },
  };
  int connections = 0;
  for (const auto& call : calls) {
    ASSERT_TRUE(GetInfo(client, kPatience).ok());
    EXPECT_EQ(forwarder.accepted(), ++connections);
    forwarder.Freeze();
    const absl::Status lost = call();
    EXPECT_TRUE(absl::IsDeadlineExceeded(lost)) << lost;
  }
  EXPECT_TRUE(GetInfo(client, kPatience).ok());
}

TEST_F(DeadConnectionTest, AConnectionThatIsNeverMadeIsTriedAnew) {
  forwarder.SetDeaf(true);
  EXPECT_TRUE(absl::IsDeadlineExceeded(GetInfo(client, kDeadline).status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Delete(client, kDeadline).status()));
  forwarder.SetDeaf(false);
  EXPECT_TRUE(GetInfo(client, kPatience).ok());
}

TEST_F(DeadConnectionTest, CallsThatHangOnALivingConnectionLeaveItAlone) {
  store.Hang("c");
  const v1::DeleteItemsRequest hanging = MakeRequest();
  std::promise<absl::Status> ended;
  client.DeleteItems(hanging, kTraceParent, absl::Seconds(2),
                     [&](const auto& response) { ended.set_value(response.status()); });
  EXPECT_TRUE(WaitUntil([&] { return store.HangingCalls() == 1; }));
  EXPECT_TRUE(GetInfo(client, kPatience).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(ended.get_future().get()));
  EXPECT_TRUE(GetInfo(client, kPatience).ok());
  EXPECT_EQ(forwarder.accepted(), 1);
}

TEST(PrimaryStoreClientWithoutStoreTest, CallsFailInsteadOfWaitingForAStore) {
  const TempDir directory;
  PrimaryStoreClient client("unix:" + directory.File("nobody.sock"),
                            grpc::InsecureChannelCredentials());
  const auto info = GetInfo(client, absl::Hours(1));
  EXPECT_TRUE(absl::IsUnavailable(info.status())) << info.status();
}

}  // namespace
}  // namespace ttl
