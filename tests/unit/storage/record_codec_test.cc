#include "service/storage/format/record_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ttl/storage/v1/record.pb.h"

namespace ttl {
namespace {

TEST(RecordCodecTest, AnItemComesBackWithEveryField) {
  StoredItem item;
  item.version = {{1'800'000'000, 60}, "etag", 42, 1000};
  item.generation = 3;
  item.position = {5, IndexFamily::kRetryTime, 1'800'000'100};
  item.attempts = 2;
  item.last_error = "locked";
  item.state_unknown = true;
  item.adopted_until = 1'800'000'060;
  item.store_epoch = 2;
  item.held_until = 1'800'000'050;
  item.expired_sequence = 77;
  item.noticed_expire_time = 1'800'000'070;
  item.noticed_sequence = 76;
  const auto decoded = DecodeStoredItem(EncodeItem(item));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->version, item.version);
  EXPECT_EQ(decoded->generation, 3u);
  EXPECT_EQ(decoded->position, item.position);
  EXPECT_EQ(decoded->attempts, 2);
  EXPECT_EQ(decoded->last_error, "locked");
  EXPECT_TRUE(decoded->state_unknown);
  EXPECT_EQ(decoded->adopted_until, 1'800'000'060);
  EXPECT_EQ(decoded->store_epoch, 2u);
  EXPECT_EQ(decoded->held_until, 1'800'000'050);
  EXPECT_EQ(decoded->expired_sequence, 77u);
  EXPECT_EQ(decoded->noticed_expire_time, 1'800'000'070);
  EXPECT_EQ(decoded->noticed_sequence, 76u);
}

// A program from before there was that family reads it as an item without an entry.
TEST(RecordCodecTest, AnAdoptedItemsEntryIsToldApartFromThoseThatOlderProgramsKnow) {
  StoredItem item;
  item.version.times = {1'700'000'000, 60};
  item.adopted_until = 1'800'000'060;
  item.position = {5, IndexFamily::kAdopted, item.adopted_until};
  const std::string bytes = EncodeItem(item);
  EXPECT_EQ(DecodeStoredItem(bytes)->position, item.position);
  storage::v1::ItemRecord record;
  ASSERT_TRUE(record.ParseFromString(bytes));
  EXPECT_EQ(record.index_number(), 0u);
  EXPECT_EQ(record.index_family(), 0u);
}

TEST(RecordCodecTest, AbsentTtlMinusOneAndLargestTtlStayApart) {
  for (const std::optional<int64_t> ttl :
       {std::optional<int64_t>(), std::optional<int64_t>(-1), std::optional<int64_t>(2147483647)}) {
    StoredItem item;
    item.version.times = {1, ttl};
    EXPECT_EQ(DecodeStoredItem(EncodeItem(item))->version.times.ttl, ttl);
  }
}

TEST(RecordCodecTest, AnItemThatIsSetAsideNamesItsHold) {
  StoredItem item;
  item.version.times = {1'700'000'000, 60};
  item.position = HeldPosition(5, 77);
  EXPECT_EQ(DecodeStoredItem(EncodeItem(item))->position, item.position);
}

TEST(RecordCodecTest, ATouchComesBack) {
  StoredItem item;
  item.version.times = {.ts = 1'700'000'000, .ttl = 60, .touch_time = 1'700'000'050};
  EXPECT_EQ(DecodeStoredItem(EncodeItem(item))->version.times, item.version.times);
}

TEST(RecordCodecTest, AHoldComesBackWithEveryField) {
  StoredHold stored;
  stored.hold.hold_id = "audit";
  stored.hold.reason = "case 7";
  stored.hold.author = "ops";
  stored.hold.until = absl::FromUnixSeconds(1'800'000'060);
  stored.hold.create_time = absl::FromUnixMicros(1'800'000'000'000'001);
  stored.hold.scope = Hold::Scope::kPartition;
  stored.hold.partition_key = std::string("p\0", 2);
  stored.hold.key_count = 3;
  stored.end_time = 1'800'000'050;
  const absl::StatusOr<StoredHold> decoded = DecodeHold(9, 77, EncodeHold(stored));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->hold.container, 9u);
  EXPECT_EQ(decoded->hold.number, 77u);
  EXPECT_EQ(decoded->hold.hold_id, "audit");
  EXPECT_EQ(decoded->hold.reason, "case 7");
  EXPECT_EQ(decoded->hold.author, "ops");
  EXPECT_EQ(decoded->hold.until, stored.hold.until);
  EXPECT_EQ(decoded->hold.create_time, stored.hold.create_time);
  EXPECT_EQ(decoded->hold.scope, Hold::Scope::kPartition);
  EXPECT_EQ(decoded->hold.partition_key, stored.hold.partition_key);
  EXPECT_EQ(decoded->hold.key_count, 3);
  EXPECT_EQ(decoded->end_time, 1'800'000'050);
  EXPECT_FALSE(decoded->stands());
}

TEST(RecordCodecTest, AnUnreadableHoldIsDataLoss) {
  EXPECT_TRUE(absl::IsDataLoss(DecodeHold(9, 77, "\xff").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeHold(9, 77, "").status())) << "no id and no scope";
  EXPECT_TRUE(absl::IsDataLoss(DecodeKeyHolds("\xff").status()));
}

Container FullContainer() {
  Container container;
  container.number = 9;
  container.id = "salesdb/orders";
  container.settings.policy = {3600, 60};
  container.settings.indexing_mode = IndexingMode::kLazy;
  container.settings.max_deletes_per_second = 0.5;
  container.settings.request_units_per_second = 400;
  container.settings.request_units_per_delete = 5.5;
  container.settings.min_deletes_per_second = 0.1;
  container.settings.brake = PolicyBrake{1000, 12.5, 3600};
  container.settings.windows =
      DeleteWindows{{{0x15, 1, 1440, 2.5}, {0x7f, 1439, 0, std::nullopt}}, "Europe/Berlin", 0.5};
  container.settings.show_held = true;
  container.settings.requires_holds = true;
  container.settings.feed = FeedSettings{3600, 1 << 20, 30};
  container.settings.allow_touch = true;
  container.feed = {11, 0xFEDCBA9876543210, 12, 1'800'000'000, 4, 3, true};
  container.index_number = 10;
  container.revision = 4;
  container.create_time = absl::FromUnixMicros(1'800'000'000'000'001);
  container.update_time = absl::FromUnixMicros(1'800'000'000'000'002);
  container.pause = Pause{"maintenance", absl::FromUnixMicros(1'800'000'000'000'003), "cn:ops"};
  container.replaced_policies = {{{std::nullopt, 0}, absl::FromUnixMicros(5), 123},
                                 {{-1, 7}, absl::FromUnixMicros(6), std::nullopt}};
  container.adoption = {1'800'000'060, 6, 7, AdoptionBrake{8, absl::FromUnixMicros(9)}};
  container.index_build = IndexBuild{12, 0, "cursor"};
  container.has_holds = true;
  container.has_touches = true;
  container.accepted_holds_epoch = 0xFEDCBA9876543210;
  return container;
}

TEST(RecordCodecTest, ImpossibleWindowsAreDataLoss) {
  for (const DeleteWindow& window :
       {DeleteWindow{0, 0, 60, {}}, DeleteWindow{0xff, 0, 60, {}}, DeleteWindow{1, 1440, 60, {}},
        DeleteWindow{1, -1, 60, {}}, DeleteWindow{1, 0, 1441, {}}, DeleteWindow{1, 0, 60, -1}}) {
    Container container = FullContainer();
    container.settings.windows->windows = {window};
    EXPECT_TRUE(absl::IsDataLoss(DecodeContainer(9, EncodeContainer(container)).status()));
  }
}

TEST(RecordCodecTest, AContainerComesBackWithEveryField) {
  const Container container = FullContainer();
  const auto decoded = DecodeContainer(9, EncodeContainer(container));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->number, 9u);
  EXPECT_EQ(decoded->id, container.id);
  EXPECT_EQ(decoded->settings, container.settings);
  EXPECT_EQ(decoded->feed, container.feed);
  EXPECT_EQ(decoded->index_number, 10u);
  EXPECT_EQ(decoded->revision, 4u);
  EXPECT_EQ(decoded->create_time, container.create_time);
  EXPECT_EQ(decoded->update_time, container.update_time);
  EXPECT_EQ(decoded->pause->reason, "maintenance");
  EXPECT_EQ(decoded->pause->since, container.pause->since);
  EXPECT_EQ(decoded->pause->author, "cn:ops");
  ASSERT_EQ(decoded->replaced_policies.size(), 2u);
  EXPECT_EQ(decoded->replaced_policies[1].policy, container.replaced_policies[1].policy);
  EXPECT_EQ(decoded->replaced_policies[0].until, container.replaced_policies[0].until);
  EXPECT_EQ(decoded->replaced_policies[0].braked_items, 123);
  EXPECT_EQ(decoded->replaced_policies[1].braked_items, std::nullopt);
  EXPECT_EQ(decoded->adoption.freed_until, container.adoption.freed_until);
  EXPECT_EQ(decoded->adoption.freed_at, container.adoption.freed_at);
  EXPECT_EQ(decoded->adoption.counted_items, container.adoption.counted_items);
  ASSERT_TRUE(decoded->adoption.brake.has_value());
  EXPECT_EQ(decoded->adoption.brake->items, container.adoption.brake->items);
  EXPECT_EQ(decoded->adoption.brake->until, container.adoption.brake->until);
  EXPECT_EQ(decoded->index_build->cursor, "cursor");
  EXPECT_EQ(decoded->index_build->items_indexed, 12);
  EXPECT_TRUE(decoded->has_holds);
  EXPECT_TRUE(decoded->has_touches);
  EXPECT_EQ(decoded->accepted_holds_epoch, container.accepted_holds_epoch);
}

TEST(RecordCodecTest, SettingsThatAreAbsentStayAbsent) {
  Container container;
  container.id = "c";
  const auto decoded = DecodeContainer(1, EncodeContainer(container));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->settings, ContainerSettings());
}

TEST(RecordCodecTest, ABrakeWithOneLimitComesBackWithOne) {
  for (const PolicyBrake& brake :
       {PolicyBrake{0, std::nullopt, 60}, PolicyBrake{std::nullopt, 0.0, 60}}) {
    Container container;
    container.id = "c";
    container.settings.brake = brake;
    EXPECT_EQ(DecodeContainer(1, EncodeContainer(container))->settings.brake, brake);
  }
}

// What is impossible must not come to mean "no limit" or "no brake".
TEST(RecordCodecTest, ImpossibleSettingsAreDataLoss) {
  const auto decode = [](auto change) {
    storage::v1::ContainerRecord record;
    record.set_id("c");
    record.set_indexing_mode(1);
    change(record);
    return DecodeContainer(1, record.SerializeAsString()).status().code();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(decode([](auto&) {}), absl::StatusCode::kOk);
  EXPECT_EQ(decode([&](auto& r) { r.set_max_deletes_per_second(nan); }),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode([&](auto& r) { r.set_request_units_per_second(nan); }),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode([](auto& r) { r.set_request_units_per_delete(0); }),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode([](auto& r) { r.set_min_deletes_per_second(-1); }), absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode([](auto& r) { r.mutable_brake()->set_release_after_seconds(3600); }),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode([](auto& r) { r.mutable_brake()->set_max_newly_due_items(-1); }),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode([](auto& r) { r.mutable_feed()->set_number(1); }), absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode([](auto& r) {
              r.mutable_feed()->set_max_age_seconds(60);
              r.mutable_feed()->set_max_bytes(1 << 20);
            }),
            absl::StatusCode::kDataLoss)
      << "a feed without a number";
  EXPECT_EQ(decode([](auto& r) { r.add_replaced_policies()->set_braked_items(-1); }),
            absl::StatusCode::kDataLoss);
}

TEST(RecordCodecTest, ADeleteDeadlineComesBackAndIsNeverNone) {
  const absl::Duration deadline = absl::Milliseconds(20'500);
  EXPECT_EQ(*DecodeDeleteDeadline(EncodeDeleteDeadline(deadline)), deadline);
  EXPECT_EQ(DecodeDeleteDeadline("").status().code(), absl::StatusCode::kDataLoss);
}

TEST(RecordCodecTest, ASourcePositionComesBackAndIsNeverEmpty) {
  const std::string position("7/\0/\xff", 5);
  EXPECT_EQ(*DecodeSourcePosition(EncodeSourcePosition(position)), position);
  EXPECT_EQ(DecodeSourcePosition("").status().code(), absl::StatusCode::kDataLoss);
}

TEST(RecordCodecTest, FactsOfTheSidecarComeBackAndImpossibleOnesAreDataLoss) {
  const StoredDeleteLimit unlimited;
  const StoredDeleteLimit none{0};
  EXPECT_EQ(*DecodeDeleteLimit(EncodeDeleteLimit(unlimited)), unlimited);
  EXPECT_EQ(*DecodeDeleteLimit(EncodeDeleteLimit(none)), none);
  EXPECT_EQ(DecodeDeleteLimit(EncodeDeleteLimit({-1})).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeDeleteLimit(EncodeDeleteLimit({std::numeric_limits<double>::infinity()}))
                .status()
                .code(),
            absl::StatusCode::kDataLoss);

  EXPECT_EQ(*DecodeStoreDoubt(EncodeStoreDoubt("another store_id")), "another store_id");
  EXPECT_EQ(DecodeStoreDoubt("").status().code(), absl::StatusCode::kDataLoss);

  const ContainerTotals totals = {{7, 700}, {5, 3, 2, 1'800'000'060}};
  EXPECT_EQ(*DecodeTotals(EncodeTotals(totals)), totals);
  EXPECT_EQ(DecodeTotals(EncodeTotals({{-1, 0}, {}})).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeTotals("\xFF\xFF").status().code(), absl::StatusCode::kDataLoss);
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
TEST(RecordCodecTest, DamagedRecordsAreDataLoss) {
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
