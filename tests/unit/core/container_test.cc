#include "service/core/container.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ContainerSettings WithDefaultTtl(std::optional<int64_t> default_ttl) {
  ContainerSettings settings;
  settings.policy.default_ttl = default_ttl;
  return settings;
}

ContainerSettings WithDelay(int64_t seconds) {
  ContainerSettings settings;
  settings.policy.delay_seconds = seconds;
  return settings;
}

ContainerSettings WithRate(double rate) {
  ContainerSettings settings;
  settings.max_deletes_per_second = rate;
  return settings;
}

ContainerSettings WithMode(IndexingMode mode) {
  ContainerSettings settings;
  settings.indexing_mode = mode;
  return settings;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(ContainerIdTest, OrdinaryNamesAreLegal) {
  for (const char* id :
       {"a", "orders", "salesdb/orders", "with space", "..", "Bestellungen-Ä", "注文",
        "\xF0\x9F\x97\x91", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF", "\xC2\xA0"}) {
    EXPECT_EQ(ValidateContainerId(id), absl::OkStatus()) << id;
  }
}

TEST(ContainerIdTest, LengthIsOneTo255Bytes) {
  EXPECT_EQ(ValidateContainerId("").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ValidateContainerId(std::string(255, 'x')), absl::OkStatus());
  const absl::Status status = ValidateContainerId(std::string(256, 'x'));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("256 bytes"), HasSubstr("1 to 255 bytes"),
                                     Not(HasSubstr(std::string(100, 'x')))));
}

TEST(ContainerIdTest, ControlCharactersAreRefused) {
  for (const std::string& id :
       {std::string("a\0b", 3), std::string("a\nb"), std::string("\x1F"), std::string("a\x7F"),
        std::string("\xC2\x80"), std::string("\xC2\x9F")}) {
    const absl::Status status = ValidateContainerId(id);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Message(status), HasSubstr("control characters"));
  }
}

TEST(ContainerIdTest, MalformedUtf8IsRefused) {
  const std::string malformed[] = {
      "\x80",              // continuation without a lead
      "\xC3",              // cut short
      "\xE2\x82",          // cut short
      "\xF0\x9F\x97",      // cut short
      "\xC3(",             // lead without a continuation
      "\xC0\xAF",          // overlong
      "\xC1\xBF",          // overlong
      "\xE0\x9F\xBF",      // overlong
      "\xF0\x8F\xBF\xBF",  // overlong
      "\xED\xA0\x80",      // surrogate
      "\xED\xBF\xBF",      // surrogate
      "\xF4\x90\x80\x80",  // past the last code point
      "\xF5\x80\x80\x80",  // no lead
      "\xFF",              // no lead
  };
  for (const std::string& id : malformed) {
    const absl::Status status = ValidateContainerId("ok" + id);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << testing::PrintToString(id);
    EXPECT_THAT(Message(status), HasSubstr("UTF-8"));
  }
}

TEST(ContainerIdTest, RefusedIdIsShownWithoutItsRawBytes) {
  EXPECT_THAT(Message(ValidateContainerId("a\nb")), AllOf(HasSubstr("\\nb"), Not(HasSubstr("\n"))));
}

TEST(SettingsTest, LegalSettings) {
  EXPECT_EQ(ValidateSettings({}), absl::OkStatus());
  EXPECT_EQ(ValidateSettings(WithDefaultTtl(-1)), absl::OkStatus());
  EXPECT_EQ(ValidateSettings(WithDefaultTtl(1)), absl::OkStatus());
  EXPECT_EQ(ValidateSettings(WithDefaultTtl(kMaxTtl)), absl::OkStatus());
  EXPECT_EQ(ValidateSettings(WithDelay(kMaxDelaySeconds)), absl::OkStatus());
  EXPECT_EQ(ValidateSettings(WithRate(0)), absl::OkStatus());
  EXPECT_EQ(ValidateSettings(WithRate(0.1)), absl::OkStatus());
  EXPECT_EQ(ValidateSettings(WithRate(1e9)), absl::OkStatus());
}

// Field report B07.
TEST(SettingsTest, IllegalDefaultTtlIsRefused) {
  for (const int64_t value : {int64_t{0}, int64_t{-2}, kMaxTtl + 1}) {
    const absl::Status status = ValidateSettings(WithDefaultTtl(value));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << value;
    EXPECT_THAT(Message(status), AllOf(HasSubstr("default_ttl"), HasSubstr(std::to_string(value))));
  }
}

TEST(SettingsTest, DelayOutOfRangeIsRefused) {
  for (const int64_t value : {int64_t{-1}, kMaxDelaySeconds + 1}) {
    const absl::Status status = ValidateSettings(WithDelay(value));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << value;
    EXPECT_THAT(Message(status), AllOf(HasSubstr("delay"), HasSubstr(std::to_string(value)),
                                       HasSubstr(std::to_string(kMaxDelaySeconds))));
  }
}

// Field report B67.
TEST(SettingsTest, IllegalRateIsRefused) {
  for (const double rate : {-1.0, -0.001, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    const absl::Status status = ValidateSettings(WithRate(rate));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << rate;
    EXPECT_THAT(Message(status), HasSubstr("max_deletes_per_second"));
  }
}

TEST(SettingsTest, IndexingModeNoneGoesOnlyWithTtlOff) {
  ContainerSettings settings = WithMode(IndexingMode::kNone);
  EXPECT_EQ(ValidateSettings(settings), absl::OkStatus());
  for (const int64_t default_ttl : {-1, 60}) {
    settings.policy.default_ttl = default_ttl;
    const absl::Status status = ValidateSettings(settings);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(Message(status), AllOf(HasSubstr("default_ttl"), HasSubstr("indexing_mode")));
  }
  settings.indexing_mode = IndexingMode::kLazy;
  EXPECT_EQ(ValidateSettings(settings), absl::OkStatus());
}

TEST(SettingsTest, UnknownIndexingModeIsRefused) {
  const absl::Status status = ValidateSettings(WithMode(static_cast<IndexingMode>(4)));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("indexing_mode is 4"));
}

// Field report B12.
TEST(SettingsTest, TheThreeStatesOfDefaultTtlAreDifferent) {
  EXPECT_NE(WithDefaultTtl(std::nullopt), WithDefaultTtl(-1));
  EXPECT_NE(WithDefaultTtl(-1), WithDefaultTtl(60));
  EXPECT_NE(WithDefaultTtl(60), WithDefaultTtl(std::nullopt));
}

struct BudgetCase {
  const char* name;
  std::optional<double> units_per_second;
  std::optional<double> units_per_delete;
  double min_deletes_per_second;
  std::vector<std::string> message;  // what the refusal says; empty: legal
};

class BudgetSettingsTest : public testing::TestWithParam<BudgetCase> {};

TEST_P(BudgetSettingsTest, IsLegalOrRefusedWithFieldValueAndRule) {
  const BudgetCase& c = GetParam();
  ContainerSettings settings;
  settings.request_units_per_second = c.units_per_second;
  settings.request_units_per_delete = c.units_per_delete;
  settings.min_deletes_per_second = c.min_deletes_per_second;
  const absl::Status status = ValidateSettings(settings);
  EXPECT_EQ(status.code(),
            c.message.empty() ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument);
  for (const std::string& part : c.message) EXPECT_THAT(Message(status), HasSubstr(part));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr absl::string_view kPerSecond = "delete_policy.request_units_per_second is ";
constexpr absl::string_view kPerDelete = "delete_policy.request_units_per_delete is ";
constexpr absl::string_view kFloor = "delete_policy.min_deletes_per_second is ";

std::vector<std::string> Says(absl::string_view field, absl::string_view value,
                              absl::string_view rule) {
  return {absl::StrCat(field, value), std::string(rule)};
}

constexpr absl::string_view kAboveZero = ": must be a finite number greater than 0";
constexpr absl::string_view kZeroOrMore = ": must be a finite number, 0 or more";

INSTANTIATE_TEST_SUITE_P(
    Table, BudgetSettingsTest,
    testing::Values(
        // name, request units per second and per delete, floor, message
        BudgetCase{"AllAbsent", {}, {}, 0, {}}, BudgetCase{"Throughput", 400, {}, 0, {}},
        BudgetCase{"SmallFractions", 1e-6, 1e-9, 1e-6, {}},
        BudgetCase{"FloorThatCostsAll", 100, 5, 20, {}},
        BudgetCase{"FloorWithoutThroughput", {}, 5, 1e9, {}},
        BudgetCase{"ThroughputZero", 0, {}, 0, Says(kPerSecond, "0", kAboveZero)},
        BudgetCase{"ThroughputNegative", -1, {}, 0, Says(kPerSecond, "-1", kAboveZero)},
        BudgetCase{"ThroughputInfinite", kInfinity, {}, 0, Says(kPerSecond, "inf", kAboveZero)},
        BudgetCase{"ThroughputNaN", kNotANumber, {}, 0, Says(kPerSecond, "nan", kAboveZero)},
        BudgetCase{"CostZero", 100, 0, 0, Says(kPerDelete, "0", kAboveZero)},
        BudgetCase{"CostNegative", 100, -0.5, 0, Says(kPerDelete, "-0.5", kAboveZero)},
        BudgetCase{"CostInfinite", {}, kInfinity, 0, Says(kPerDelete, "inf", kAboveZero)},
        BudgetCase{"CostNaN", {}, kNotANumber, 0, Says(kPerDelete, "nan", kAboveZero)},
        BudgetCase{"FloorNegative", 100, {}, -1, Says(kFloor, "-1", kZeroOrMore)},
        BudgetCase{"FloorInfinite", {}, {}, kInfinity, Says(kFloor, "inf", kZeroOrMore)},
        BudgetCase{"FloorNaN", {}, {}, kNotANumber, Says(kFloor, "nan", kZeroOrMore)},
        BudgetCase{"FloorCostsTooMuch", 100, 5, 21,
                   Says(kFloor, "21 and costs 105",
                        "must not cost more than request_units_per_second, which is 100")},
        BudgetCase{"FloorAtTheDefaultCostTooMuch",
                   100,
                   {},
                   101,
                   Says(kFloor, "101 and costs 101", "which is 100")}),
    [](const auto& info) { return info.param.name; });

struct BrakeCase {
  const char* name;
  PolicyBrake brake;
  std::vector<std::string> message;  // empty: legal
};

class BrakeSettingsTest : public testing::TestWithParam<BrakeCase> {};

TEST_P(BrakeSettingsTest, IsLegalOrRefusedWithFieldValueAndRule) {
  ContainerSettings settings;
  settings.brake = GetParam().brake;
  const absl::Status status = ValidateSettings(settings);
  EXPECT_EQ(status.code(), GetParam().message.empty() ? absl::StatusCode::kOk
                                                      : absl::StatusCode::kInvalidArgument);
  for (const std::string& part : GetParam().message) {
    EXPECT_THAT(Message(status), HasSubstr(part));
  }
}

constexpr absl::string_view kItems = "delete_policy.brake.max_newly_due_items is ";
constexpr absl::string_view kPercent = "delete_policy.brake.max_newly_due_percent is ";
constexpr absl::string_view kRelease = "delete_policy.brake.release_after is ";
constexpr absl::string_view kPercentRule = ": must be 0 to 100";
constexpr absl::string_view kReleaseRule = ": must be 60 to 2592000 s";

INSTANTIATE_TEST_SUITE_P(
    Table, BrakeSettingsTest,
    testing::Values(
        // name, {items, percent, seconds until it lets go}, message
        BrakeCase{"Items", {1000, {}}, {}}, BrakeCase{"Percent", {{}, 2.5}, {}},
        BrakeCase{"NothingMayBecomeDue", {0, 0}, {}},
        BrakeCase{"LimitsOfRange", {INT64_MAX, 100, PolicyBrake::kMinReleaseSeconds}, {}},
        BrakeCase{"LongestRelease", {1, {}, PolicyBrake::kMaxReleaseSeconds}, {}},
        BrakeCase{"NoLimit", {}, {"delete_policy.brake has no limit", "max_newly_due_percent"}},
        BrakeCase{"ItemsNegative", {-1, {}}, Says(kItems, "-1", ": must be 0 or more")},
        BrakeCase{"PercentNegative", {{}, -0.1}, Says(kPercent, "-0.1", kPercentRule)},
        BrakeCase{"PercentTooLarge", {{}, 100.5}, Says(kPercent, "100.5", kPercentRule)},
        BrakeCase{"PercentNaN", {5, kNotANumber}, Says(kPercent, "nan", kPercentRule)},
        BrakeCase{"ReleaseTooShort", {5, {}, 59}, Says(kRelease, "59 s", kReleaseRule)},
        BrakeCase{"ReleaseTooLong", {5, {}, 2592001}, Says(kRelease, "2592001 s", kReleaseRule)}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ttl
