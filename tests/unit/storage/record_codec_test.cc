#include "service/storage/record_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ttl/storage/v1/record.pb.h"

namespace ttl {
namespace {

TEST(RecordCodecTest, AnItemComesBackWithEveryField) {
  StoredItem item;
  item.version = {{1'800'000'000, 60}, "etag", 42, 1000};
  item.generation = 3;
  item.claim = {5, IndexFamily::kRetryTime, 1'800'000'100};
  item.attempts = 2;
  item.last_error = "locked";
  item.state_unknown = true;
  const auto decoded = DecodeStoredItem(EncodeItem(item));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->version, item.version);
  EXPECT_EQ(decoded->generation, 3u);
  EXPECT_EQ(decoded->claim, item.claim);
  EXPECT_EQ(decoded->attempts, 2);
  EXPECT_EQ(decoded->last_error, "locked");
  EXPECT_TRUE(decoded->state_unknown);
}

TEST(RecordCodecTest, AbsentTtlMinusOneAndLargestTtlStayApart) {
  for (const std::optional<int64_t> ttl :
       {std::optional<int64_t>(), std::optional<int64_t>(-1), std::optional<int64_t>(2147483647)}) {
    StoredItem item;
    item.version.times = {1, ttl};
    EXPECT_EQ(DecodeStoredItem(EncodeItem(item))->version.times.ttl, ttl);
  }
}

Container FullContainer() {
  Container container;
  container.number = 9;
  container.id = "salesdb/orders";
  container.settings = {{3600, 60}, IndexingMode::kLazy, 0.5};
  container.index_number = 10;
  container.revision = 4;
  container.create_time = absl::FromUnixMicros(1'800'000'000'000'001);
  container.update_time = absl::FromUnixMicros(1'800'000'000'000'002);
  container.pause = Pause{"maintenance", absl::FromUnixMicros(1'800'000'000'000'003)};
  container.replaced_policies = {{{std::nullopt, 0}, absl::FromUnixMicros(5)},
                                 {{-1, 7}, absl::FromUnixMicros(6)}};
  container.index_build = IndexBuild{12, 0, "cursor"};
  return container;
}

TEST(RecordCodecTest, AContainerComesBackWithEveryField) {
  const Container container = FullContainer();
  const auto decoded = DecodeContainer(9, EncodeContainer(container));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->number, 9u);
  EXPECT_EQ(decoded->id, container.id);
  EXPECT_EQ(decoded->settings, container.settings);
  EXPECT_EQ(decoded->index_number, 10u);
  EXPECT_EQ(decoded->revision, 4u);
  EXPECT_EQ(decoded->create_time, container.create_time);
  EXPECT_EQ(decoded->update_time, container.update_time);
  EXPECT_EQ(decoded->pause->reason, "maintenance");
  EXPECT_EQ(decoded->pause->since, container.pause->since);
  ASSERT_EQ(decoded->replaced_policies.size(), 2u);
  EXPECT_EQ(decoded->replaced_policies[1].policy, container.replaced_policies[1].policy);
  EXPECT_EQ(decoded->replaced_policies[0].until, container.replaced_policies[0].until);
  EXPECT_EQ(decoded->index_build->cursor, "cursor");
  EXPECT_EQ(decoded->index_build->items_indexed, 12);
}

TEST(RecordCodecTest, TheClockMemoryComesBack) {
  const ClockMemory memory{absl::FromUnixMicros(1'800'000'000'123'456), absl::Microseconds(77),
                           "boot", absl::FromUnixMicros(1'800'000'000'123'457),
                           absl::Microseconds(5)};
  const auto decoded = DecodeClockMemory(EncodeClockMemory(memory));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, memory);
}

// Field report B08: a damaged setting must never come to mean "expire".
TEST(RecordCodecTest, B08_DamagedRecordsAreDataLoss) {
  storage::v1::ContainerRecord record;
  record.set_id("c");
  record.set_indexing_mode(1);
  record.mutable_policy()->set_default_ttl(0);
  const std::string zero_ttl = record.SerializeAsString();
  record.mutable_policy()->set_default_ttl(4294967356);
  const std::string wrapped_ttl = record.SerializeAsString();
  record.mutable_policy()->set_default_ttl(60);
  record.set_indexing_mode(9);
  const std::string odd_mode = record.SerializeAsString();
  const std::string whole = EncodeContainer(FullContainer());
  const std::string cut_short = whole.substr(0, whole.size() / 2);

  for (const std::string& bytes : {zero_ttl, wrapped_ttl, odd_mode, cut_short, std::string(),
                                   std::string("NaN"), std::string("\xFF\xFF\xFF")}) {
    EXPECT_EQ(DecodeContainer(1, bytes).status().code(), absl::StatusCode::kDataLoss) << bytes;
  }
  EXPECT_EQ(DecodeStoredItem("\xFF\xFF").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeClockMemory("\xFF\xFF").status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace ttl
