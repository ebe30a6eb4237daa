#include "service/expiry/store/store_preview.h"

#include <functional>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/expiry/store/scanned_page.h"
#include "tests/testing/reason_matcher.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

class StorePreviewTest : public testing::Test {
 protected:
  void PutInStore(const std::string& id, int64_t age, std::optional<int64_t> ttl = std::nullopt) {
    harness.store.Put("new", KeyOf(id), {{harness.Now() - age, ttl}, "", {}, 0});
  }

  absl::StatusOr<AdoptionPreview> Preview(const Policy& policy) {
    ContainerSettings settings;
    settings.policy = policy;
    AdoptionPreviewStep step =
        PreviewStore(harness.client(), *harness.guarded_clock, {}, "new", settings);
    AdoptionPreview preview;
    for (int i = 0; i < 1000 && !preview.finished; ++i) {
      const absl::Status status = step(preview);
      if (!status.ok()) return status;
    }
    return preview;
  }

  SweepHarness harness;
};

TEST_F(StorePreviewTest, CountsWhatWouldBeHiddenAndWhatWouldBeDeleted) {
  harness.store.SetScanMessageItems(3);
  for (int i = 0; i < 10; ++i) PutInStore(absl::StrCat("live", i), 10);
  for (int i = 0; i < 4; ++i) PutInStore(absl::StrCat("hidden", i), 120);
  for (int i = 0; i < 2; ++i) PutInStore(absl::StrCat("due", i), 1000);
  PutInStore("its own ttl", 1000, 5000);
  PutInStore("invalid", 1000, 0);
  const auto preview = Preview({100, 60});
  ASSERT_TRUE(preview.ok()) << preview.status();
  EXPECT_EQ(preview->scanned, 18);
  EXPECT_EQ(preview->expired, 6);
  EXPECT_EQ(preview->due, 2);
  EXPECT_EQ(preview->invalid, 1);
  EXPECT_TRUE(preview->finished);
  EXPECT_EQ(harness.storage.Find("new"), nullptr);
}

TEST_F(StorePreviewTest, WithTtlOffNothingWouldBeDeleted) {
  PutInStore("old", 1000, 5);
  EXPECT_EQ(Preview({})->expired, 0);
  EXPECT_EQ(Preview({-1, 0})->due, 1);
}

TEST_F(StorePreviewTest, AStoreWithoutAScanSaysSo) {
  harness.store.SetBeforeScanMessage(
      [](const auto&, auto&) { return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no"); });
  PutInStore("old", 1000);
  const absl::Status status = Preview({100, 0}).status();
  EXPECT_THAT(status, HasReason(Reason::kScanNotSupported));
  EXPECT_EQ(status.message(), "cannot preview: the store does not implement ScanItems");
}

TEST_F(StorePreviewTest, AStoreThatFailsEndsIt) {
  harness.store.SetBeforeScanMessage(
      [](const auto&, auto&) { return grpc::Status(grpc::StatusCode::INTERNAL, "broken disk"); });
  PutInStore("old", 1000);
  const absl::Status status = Preview({100, 0}).status();
  EXPECT_THAT(status, HasReason(Reason::kStoreUnavailable));
  EXPECT_THAT(status.message(), HasSubstr("broken disk"));
}

TEST_F(StorePreviewTest, AnAnswerThatBreaksTheContractEndsIt) {
  const struct {
    const char* message;
    std::function<void(const v1::ScanItemsRequest&, v1::ScanItemsResponse&)> change;
  } kCases[] = {
      {"returned the page_token of its request",
       [](const auto& request, auto& response) {
         response.set_next_page_token(request.page_token().empty() ? "t" : request.page_token());
       }},
      {"a token of 4097 bytes",
       [](const auto&, auto& response) { response.set_next_page_token(std::string(4097, 't')); }},
      {"1001 items in a message",
       [](const auto&, auto& response) {
         while (response.items_size() <= kMaxScannedItems) response.add_items();
       }},
  };
  PutInStore("old", 1000);
  for (const auto& c : kCases) {
    harness.store.SetBeforeScanMessage([&c](const auto& request, auto& response) {
      c.change(request, response);
      return grpc::Status::OK;
    });
    const absl::Status status = Preview({100, 0}).status();
    EXPECT_THAT(status, HasReason(Reason::kStoreAnswerInvalid)) << c.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace ttl
