#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/container_change.h"
#include "client/ttlctl/input/windows_text.h"
#include "client/ttlctl/text/yaml/containers_file.h"
#include "client/ttlctl/text/yaml/yaml_text.h"
#include "client/ttlctl/ttlctl.h"
#include "nlohmann/json.hpp"
#include "service/yaml/container_entries.h"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/reason_status.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/container_service.pb.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// The container that an entry with `lines` besides its id describes.
v1::Container Described(const std::string& lines) {
  const auto entries = ParseContainers("c.yaml", absl::StrCat("containers:\n  - id: c\n", lines));
  EXPECT_TRUE(entries.ok()) << entries.status();
  return entries.ok() && entries->size() == 1 ? ContainerOf(entries->front()) : v1::Container();
}

const char* const kEveryKey =
    "    default_ttl: 60\n"
    "    indexing_mode: LAZY\n"
    "    delete_policy:\n"
    "      max_deletes_per_second: 0.5\n"
    "      delay_seconds: 30\n"
    "      request_units_per_second: 400\n"
    "      request_units_per_delete: 2.5\n"
    "      min_deletes_per_second: 1\n"
    "      brake: {max_newly_due_items: 7, max_newly_due_percent: 5, release_after_seconds: 600}\n"
    "      windows:\n"
    "        windows:\n"
    "          - {days: [sun, mon], start: 22:00, end: 06:00, max_deletes_per_second: 500}\n"
    "          - {start: 12:00, end: 24:00}\n"
    "        time_zone: Europe/Berlin\n"
    "        max_deletes_per_second_outside: 0.5\n"
    "    show_held: true\n"
    "    holds: true\n"
    "    feed: {max_age_seconds: 7200, max_bytes: 2000000, notice_seconds: 60}\n"
    "    allow_touch: true\n";

TEST(ContainerChangeTest, EveryKeyOfTheFileArrivesInTheContainer) {
  const v1::Container container = Described(kEveryKey);
  EXPECT_EQ(container.id(), "c");
  EXPECT_EQ(container.default_ttl(), 60);
  EXPECT_EQ(container.indexing_mode(), v1::INDEXING_MODE_LAZY);
  const v1::DeletePolicy& policy = container.delete_policy();
  EXPECT_EQ(policy.max_deletes_per_second(), 0.5);
  EXPECT_EQ(policy.delay().seconds(), 30);
  EXPECT_EQ(policy.request_units_per_second(), 400);
  EXPECT_EQ(policy.request_units_per_delete(), 2.5);
  EXPECT_EQ(policy.min_deletes_per_second(), 1);
  EXPECT_EQ(policy.brake().max_newly_due_items(), 7);
  EXPECT_EQ(policy.brake().max_newly_due_percent(), 5);
  EXPECT_EQ(policy.brake().release_after().seconds(), 600);
  EXPECT_EQ(WindowsText(policy.windows()), "mon,sun 22:00-06:00 500/s; 12:00-24:00");
  EXPECT_EQ(policy.windows().time_zone(), "Europe/Berlin");
  EXPECT_EQ(policy.windows().max_deletes_per_second_outside(), 0.5);
  EXPECT_TRUE(container.show_held());
  EXPECT_TRUE(container.requires_holds());
  EXPECT_EQ(container.feed().max_age().seconds(), 7200);
  EXPECT_EQ(container.feed().max_bytes(), 2000000);
  EXPECT_EQ(container.feed().notice().seconds(), 60);
  EXPECT_TRUE(container.allow_touch());
}

TEST(ContainerChangeTest, EachFieldIsNamedWhenItAloneDiffers) {
  const struct {
    const char* lines;
    const char* expected;
  } kCases[] = {
      {"    default_ttl: 60\n", "default_ttl off -> 60"},
      {"    default_ttl: -1\n", "default_ttl off -> -1"},
      {"    indexing_mode: NONE\n", "indexing_mode consistent -> none"},
      {"    delete_policy: {max_deletes_per_second: 0}\n",
       "delete_policy.max_deletes_per_second default -> 0"},
      {"    delete_policy: {delay_seconds: 60}\n", "delete_policy.delay 0s -> 60s"},
      {"    delete_policy: {request_units_per_second: 0.1}\n",
       "delete_policy.request_units_per_second none -> 0.1"},
      {"    delete_policy: {request_units_per_delete: 2}\n",
       "delete_policy.request_units_per_delete none -> 2"},
      {"    delete_policy: {min_deletes_per_second: 2}\n",
       "delete_policy.min_deletes_per_second 0 -> 2"},
      {"    delete_policy: {brake: {max_newly_due_items: 0}}\n",
       "delete_policy.brake none -> {items 0, percent none, release after 86400s}"},
      {"    delete_policy: {brake: {max_newly_due_percent: 0, release_after_seconds: 60}}\n",
       "delete_policy.brake none -> {items none, percent 0, release after 60s}"},
      {"    delete_policy: {windows: {windows: [{start: '22:00', end: '06:00'}]}}\n",
       "delete_policy.windows none -> {22:00-06:00, time zone UTC, outside 0/s}"},
      {"    show_held: true\n", "show_held false -> true"},
      {"    holds: true\n", "requires_holds false -> true"},
      {"    feed: {notice_seconds: 60}\n",
       "feed off -> {max age 86400s, max bytes 1073741824, notice 60s}"},
      {"    allow_touch: true\n", "allow_touch false -> true"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ChangesText(Differences(Described(""), Described(c.lines))), c.expected);
    EXPECT_THAT(Differences(Described(c.lines), Described(c.lines)), IsEmpty()) << c.lines;
    EXPECT_THAT(Differences(Described(c.lines), Described("")), SizeIs(1)) << c.lines;
  }
}

TEST(ContainerChangeTest, AbsentAndDefaultAreTheSame) {
  v1::Container bare;  // as a server may send it
  EXPECT_THAT(Differences(bare, Described("")), IsEmpty());
  v1::Container spelled_out = Described("    delete_policy: {brake: {max_newly_due_items: 1}}\n");
  v1::Container without_release = spelled_out;
  without_release.mutable_delete_policy()->mutable_brake()->clear_release_after();
  EXPECT_THAT(Differences(without_release, spelled_out), IsEmpty());
  bare.mutable_feed();
  EXPECT_THAT(Differences(bare, Described("    feed: {}\n")), IsEmpty());
}

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

class ApplyTest : public testing::Test {
 protected:
  // Applies a file of this text.
  Outcome Apply(const std::string& text, const std::vector<std::string>& options = {}) {
    std::ofstream(path_) << text;
    return Run(path_, options, "");
  }

  Outcome Run(const std::string& file, const std::vector<std::string>& options,
              const std::string& input) {
    std::vector<std::string> arguments = {"--server", sidecar_.address(), "apply", "-f", file};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = RunTtlctl(arguments, {in, out, err});
    return {code, out.str(), err.str()};
  }

  // Answers the next GetContainer that the container is as an entry with `lines`.
  void Present(const std::string& id, const std::string& lines) {
    v1::GetContainerResponse response;
    *response.mutable_container() = Described(lines);
    response.mutable_container()->set_id(id);
    response.mutable_container()->set_etag(absl::StrCat("etag-of-", id));
    sidecar_.Answer("GetContainer", response);
  }

  void Missing() { sidecar_.Fail("GetContainer", {grpc::StatusCode::NOT_FOUND, "no such"}); }

  int Changes() const {
    int changes = sidecar_.Calls("CreateContainer");
    for (const auto& request : Updates()) changes += request.validate_only() ? 0 : 1;
    return changes;
  }

  std::vector<v1::UpdateContainerRequest> Updates() const {
    return sidecar_.Requests<v1::UpdateContainerRequest>("UpdateContainer");
  }

  FakeSidecar sidecar_;
  TempDir directory_;
  const std::string path_ = directory_.File("containers.yaml");
};

const char* const kThree =
    "containers:\n"
    "  - id: new\n"
    "    default_ttl: 60\n"
    "  - id: same\n"
    "    default_ttl: -1\n"
    "  - id: other\n"
    "    delete_policy: {delay_seconds: 5}\n";

TEST_F(ApplyTest, CreatesChangesAndLeavesAlone) {
  Missing();
  Present("same", "    default_ttl: -1\n");
  Present("other", "    default_ttl: 60\n");
  const Outcome outcome = Apply(kThree);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("new        created"), HasSubstr("same       unchanged"),
                    HasSubstr("changed    default_ttl 60 -> off, delete_policy.delay 0s -> 5s")));
  const auto created = sidecar_.Requests<v1::CreateContainerRequest>("CreateContainer");
  ASSERT_THAT(created, SizeIs(1));
  EXPECT_EQ(created[0].container().id(), "new");
  EXPECT_EQ(created[0].container().default_ttl(), 60);
  ASSERT_THAT(Updates(), SizeIs(2)) << "validated, then made";
  EXPECT_TRUE(Updates()[0].validate_only());
  const v1::UpdateContainerRequest update = Updates()[1];
  EXPECT_FALSE(update.validate_only());
  EXPECT_THAT(update.update_mask().paths(), ElementsAre("default_ttl", "delete_policy.delay"));
  EXPECT_EQ(update.container().id(), "other");
  EXPECT_EQ(update.container().etag(), "etag-of-other");
  EXPECT_FALSE(update.container().has_default_ttl());
}

TEST_F(ApplyTest, WhatIsAlreadySoIsNotWritten) {
  Present("c", kEveryKey);
  const Outcome outcome = Apply(absl::StrCat("containers:\n  - id: c\n", kEveryKey));
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("unchanged"));
  EXPECT_EQ(sidecar_.Calls("CreateContainer") + sidecar_.Calls("UpdateContainer"), 0);
}

TEST_F(ApplyTest, ABadEntrySendsNothingAtAll) {
  const Outcome outcome =
      Apply("containers:\n  - id: good\n    default_ttl: 60\n  - id: bad\n    default_ttl: 60s\n");
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("containers.yaml:5"), HasSubstr("container \"bad\""),
                                 HasSubstr("\"60s\" is not allowed")));
  EXPECT_EQ(sidecar_.Calls("GetContainer"), 0);
  EXPECT_EQ(Changes(), 0);
}

TEST_F(ApplyTest, AChangeThatTheServerRefusesStopsAllBeforeTheFirst) {
  Missing();
  Present("same", "    default_ttl: -1\n");
  Present("other", "    default_ttl: 60\n");
  sidecar_.Fail("UpdateContainer", {grpc::StatusCode::FAILED_PRECONDITION, "not now"});
  const Outcome outcome = Apply(kThree);
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("container \"other\": not now"), HasSubstr("nothing was changed")));
  EXPECT_EQ(Changes(), 0);
}

TEST_F(ApplyTest, ARefusalBecauseHoldsStandNamesTheCommandThatOverridesThem) {
  Present("c d", "    default_ttl: 60\n");
  sidecar_.Fail("UpdateContainer", RefusalFor("HOLDS_STAND"));
  EXPECT_THAT(Apply("containers:\n  - {id: c d, indexing_mode: NONE}\n").err,
              HasSubstr("refused (ttlctl containers set --indexing-mode none --force 'c d' "
                        "overrides them); nothing was changed"));
}

TEST_F(ApplyTest, ARefusalBecauseOfSubscriptionsNamesTheCommandThatOverridesThem) {
  Present("c", "    feed: {}\n");
  sidecar_.Fail("UpdateContainer", RefusalFor("SUBSCRIPTIONS_EXIST"));
  EXPECT_THAT(Apply("containers:\n  - {id: c}\n").err,
              HasSubstr("refused (ttlctl containers set --feed off --force c overrides them)"));
}

TEST_F(ApplyTest, AFailureOnTheWaySaysWhatIsDone) {
  const struct {
    grpc::StatusCode status;
    ExitCode code;
    const char* fate;
  } kCases[] = {
      {grpc::StatusCode::ALREADY_EXISTS, ExitCode::kRefused, "this one is not"},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, ExitCode::kRefused, "this one is not"},
      {grpc::StatusCode::INTERNAL, ExitCode::kRefused, "this one may be"},
      {grpc::StatusCode::UNAVAILABLE, ExitCode::kUnreachable, "this one may be"},
  };
  for (const auto& c : kCases) {
    Present("first", "    default_ttl: 60\n");
    Missing();
    Missing();
    sidecar_.Fail("CreateContainer", {c.status, "no luck"});
    const int creates = sidecar_.Calls("CreateContainer");
    const Outcome outcome =
        Apply("containers:\n  - {id: first, default_ttl: 60}\n  - {id: second}\n  - {id: third}\n");
    EXPECT_EQ(outcome.code, c.code) << c.status;
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("container \"second\": "), HasSubstr("no luck; 1 of 3 containers"),
                      HasSubstr(c.fate), HasSubstr("nothing was sent for the others")));
    EXPECT_THAT(outcome.out, HasSubstr("first")) << "what was done is told";
    EXPECT_EQ(sidecar_.Calls("CreateContainer"), creates + 1) << c.status;
  }
}

TEST_F(ApplyTest, DryRunSaysWhatWouldChangeAndChangesNothing) {
  Missing();
  Present("same", "    default_ttl: -1\n");
  Present("other", "    default_ttl: 60\n");
  v1::UpdateContainerResponse preview;
  preview.mutable_container()->set_id("other");
  preview.mutable_preview()->set_newly_visible_items(500);
  sidecar_.Answer("UpdateContainer", preview);
  const Outcome outcome = Apply(kThree, {"--dry-run"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("new        would be created"), HasSubstr("unchanged"),
                    HasSubstr("would be changed  default_ttl 60 -> off"),
                    HasSubstr("nothing was changed"), HasSubstr("500 would be shown again")));
  EXPECT_EQ(Changes(), 0);
}

TEST_F(ApplyTest, JsonIsOneObjectPerContainer) {
  Missing();
  Present("same", "    default_ttl: -1\n");
  Present("other", "");
  const Outcome outcome = Apply(kThree, {"--json"});
  std::istringstream lines(outcome.out);
  std::vector<json> objects;
  for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
  ASSERT_THAT(objects, SizeIs(3));
  EXPECT_EQ(objects[0],
            (json{{"container", "new"}, {"outcome", "created"}, {"changes", json::array()}}));
  EXPECT_EQ(objects[1]["outcome"], "unchanged");
  EXPECT_EQ(objects[2]["outcome"], "changed");
  EXPECT_EQ(objects[2]["changes"],
            json::array({{{"field", "delete_policy.delay"}, {"from", "0s"}, {"to", "5s"}}}));
}

TEST_F(ApplyTest, ABrakeThatIsPulledIsTold) {
  Present("c", "");
  sidecar_.Answer("UpdateContainer", v1::UpdateContainerResponse());
  v1::UpdateContainerResponse updated;
  *updated.mutable_container() =
      Described("    delete_policy: {brake: {max_newly_due_items: 5}}\n");
  sidecar_.Answer("UpdateContainer", updated);
  v1::GetExpiryStatusResponse status;
  status.mutable_container()->mutable_brake()->set_newly_due_items(1234);
  sidecar_.Answer("GetExpiryStatus", status);
  EXPECT_THAT(
      Apply("containers:\n  - id: c\n    delete_policy: {brake: {max_newly_due_items: 5}}\n").out,
      AllOf(HasSubstr("PULLED"), HasSubstr("ttlctl containers confirm c")));
}

TEST_F(ApplyTest, ColumnsFitAllContainersOfTheFile) {
  Missing();
  Missing();
  EXPECT_EQ(Apply("containers: [{id: c}, {id: much/longer}]\n").out,
            "CONTAINER    OUTCOME  CHANGES\n"
            "c            created\n"
            "much/longer  created\n");
}

TEST_F(ApplyTest, ManyChangesFitATerminal) {
  Present("c", "");
  const Outcome outcome = Apply(absl::StrCat("containers:\n  - id: c\n", kEveryKey), {"--dry-run"});
  EXPECT_THAT(outcome.out, HasSubstr("delete_policy.request_units_per_second none -> 400"));
  const std::string table = outcome.out.substr(0, outcome.out.find("\n\n"));
  std::istringstream lines(table);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_GT(count, 5);
}

TEST_F(ApplyTest, AFileWithoutContainersIsSaidToHaveNone) {
  for (const char* text : {"", "# nothing\n", "containers:\n", "containers: []\n"}) {
    const Outcome outcome = Apply(text);
    EXPECT_EQ(outcome.code, ExitCode::kOk) << text;
    EXPECT_THAT(outcome.err, HasSubstr("names no containers")) << text;
  }
}

TEST_F(ApplyTest, StandardInputIsNamedAsSuch) {
  Missing();
  const Outcome outcome = Run("-", {}, "containers: [{id: c}]\n");
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_EQ(sidecar_.Calls("CreateContainer"), 1);
  EXPECT_THAT(Run("-", {}, "containers: [{}]\n").err, HasSubstr("standard input:1"));
}

TEST_F(ApplyTest, AFileThatCannotBeReadIsAUsageError) {
  const struct {
    std::string file;
    std::string input;
    const char* expected;
  } kCases[] = {
      {directory_.File("missing.yaml"), "", "missing.yaml: cannot be opened"},
      {std::string(directory_.path()), "", "is a directory"},
      {"-", std::string((8 << 20) + 1, '#'), "is longer than 8388608 bytes"},
  };
  for (const auto& c : kCases) {
    const Outcome outcome = Run(c.file, {}, c.input);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << c.expected;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("ttlctl: "), HasSubstr(c.expected)));
  }
  EXPECT_EQ(sidecar_.Calls("GetContainer"), 0);
}

TEST_F(ApplyTest, TheExampleOfTheServiceIsTaken) {
  for (int i = 0; i < 3; ++i) Missing();
  const Outcome outcome = Run(EXAMPLE_DIR "/containers.example.yaml", {}, "");
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_EQ(sidecar_.Calls("CreateContainer"), 3);
}

// The way back: export

// Numbers of every size, whole and not.
double AnyNumber() {
  const int digits = *rc::gen::inRange(-300, 300);
  return *rc::gen::inRange(1, 1000000) * std::pow(10.0, digits) / *rc::gen::element(1.0, 3.0, 64.0);
}

template <typename Make>
auto Maybe(Make make) -> std::optional<decltype(make())> {
  return *rc::gen::arbitrary<bool>() ? std::optional(make()) : std::nullopt;
}

std::optional<PolicyBrake> AnyBrake() {
  PolicyBrake brake;
  brake.max_newly_due_items = *rc::gen::inRange<int64_t>(0, int64_t{1} << 62);
  brake.max_newly_due_percent = Maybe([] { return *rc::gen::inRange(0, 10000) / 100.0; });
  if (brake.max_newly_due_percent && *rc::gen::arbitrary<bool>()) brake.max_newly_due_items.reset();
  brake.release_after_seconds =
      *rc::gen::inRange(PolicyBrake::kMinReleaseSeconds, PolicyBrake::kMaxReleaseSeconds);
  return brake;
}

FeedSettings AnyFeed() {
  FeedSettings feed;
  feed.max_age_seconds =
      *rc::gen::inRange(FeedSettings::kMinMaxAgeSeconds, FeedSettings::kMaxMaxAgeSeconds + 1);
  feed.max_bytes = *rc::gen::inRange(FeedSettings::kMinMaxBytes, FeedSettings::kMaxMaxBytes + 1);
  feed.notice_seconds = Maybe([] {
    return *rc::gen::inRange(FeedSettings::kMinNoticeSeconds, FeedSettings::kMaxNoticeSeconds + 1);
  });
  return feed;
}

std::optional<DeleteWindows> AnyWindows() {
  DeleteWindows windows;
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) {
    windows.windows.push_back({static_cast<uint8_t>(*rc::gen::inRange(1, 128)),
                               *rc::gen::inRange(0, 1440), *rc::gen::inRange(0, 1441),
                               Maybe(AnyNumber)});
  }
  windows.time_zone = *rc::gen::element<std::string>("", "UTC", "America/New_York", "Etc/GMT+5");
  if (*rc::gen::arbitrary<bool>()) windows.max_deletes_per_second_outside = AnyNumber();
  return windows;
}

ContainerSettings AnySettings() {
  ContainerSettings settings;
  settings.policy.default_ttl =
      *rc::gen::element<std::optional<int64_t>>(std::nullopt, -1, 1, 3600, 2147483647);
  settings.policy.delay_seconds = *rc::gen::inRange<int64_t>(0, 316224000);
  settings.indexing_mode =
      *rc::gen::element(IndexingMode::kConsistent, IndexingMode::kLazy, IndexingMode::kNone);
  settings.max_deletes_per_second = Maybe(AnyNumber);
  settings.request_units_per_second = Maybe(AnyNumber);
  settings.request_units_per_delete = Maybe(AnyNumber);
  if (*rc::gen::arbitrary<bool>()) settings.min_deletes_per_second = AnyNumber();
  if (*rc::gen::arbitrary<bool>()) settings.brake = AnyBrake();
  if (*rc::gen::arbitrary<bool>()) settings.windows = AnyWindows();
  settings.show_held = *rc::gen::arbitrary<bool>();
  settings.requires_holds = *rc::gen::arbitrary<bool>();
  settings.feed = Maybe(AnyFeed);
  settings.allow_touch = *rc::gen::arbitrary<bool>();
  return settings;
}

std::string AnyId() {
  return *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange(' ', '\x7f'))) +
         *rc::gen::element<std::string>("", "\u00e9", "\u65e5", "\U0001F600", "\u2028", "\uFEFF",
                                        ": #");
}

RC_GTEST_PROP(ContainersFileTest, WhatIsExportedIsReadBackAsItIs, ()) {
  const ContainerEntry entry{AnyId(), AnySettings()};
  RC_PRE(entry.id.size() <= 255u && ValidateSettings(entry.settings).ok());
  const v1::Container container = ContainerOf(entry);
  const nlohmann::ordered_json file = ContainersFile({container});
  for (const std::string& text : {ToYaml(file), file.dump()}) {
    const auto read = ParseContainers("export", text);
    RC_ASSERT(read.ok());
    RC_ASSERT(read->size() == 1u);
    RC_ASSERT(read->front().id == entry.id);
    RC_ASSERT(Differences(container, ContainerOf(read->front())).empty());
  }
}

class ExportTest : public ApplyTest {
 protected:
  Outcome Export(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--server", sidecar_.address(), "export"});
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = RunTtlctl(arguments, {in, out, err});
    return {code, out.str(), err.str()};
  }

  // Two containers, one with every setting.
  v1::ListContainersResponse Two() {
    v1::ListContainersResponse list;
    *list.add_containers() = Described(kEveryKey);
    list.add_containers()->set_id("on");
    return list;
  }
};

TEST_F(ExportTest, IsAFileOfContainers) {
  sidecar_.Answer("ListContainers", Two());
  EXPECT_EQ(Export({}).out,
            "containers:\n"
            "  - id: c\n"
            "    default_ttl: 60\n"
            "    indexing_mode: LAZY\n"
            "    delete_policy:\n"
            "      max_deletes_per_second: 0.5\n"
            "      delay_seconds: 30\n"
            "      request_units_per_second: 400\n"
            "      request_units_per_delete: 2.5\n"
            "      min_deletes_per_second: 1\n"
            "      brake:\n"
            "        max_newly_due_items: 7\n"
            "        max_newly_due_percent: 5\n"
            "        release_after_seconds: 600\n"
            "      windows:\n"
            "        windows:\n"
            "          - days:\n"
            "              - mon\n"
            "              - sun\n"
            "            start: \"22:00\"\n"
            "            end: \"06:00\"\n"
            "            max_deletes_per_second: 500\n"
            "          - start: \"12:00\"\n"
            "            end: \"24:00\"\n"
            "        time_zone: Europe/Berlin\n"
            "        max_deletes_per_second_outside: 0.5\n"
            "    show_held: true\n"
            "    holds: true\n"
            "    feed:\n"
            "      max_age_seconds: 7200\n"
            "      max_bytes: 2000000\n"
            "      notice_seconds: 60\n"
            "    allow_touch: true\n"
            "  - id: \"on\"\n");
  EXPECT_EQ(Export({}).out, "containers: []\n");
}

TEST_F(ExportTest, AFileThatApplyDoesNotTakeIsWholeAndWarnedOf) {
  const struct {
    int containers;
    bool is_too_long;
  } kCases[] = {{15'000, false}, {36'000, true}};
  for (const auto& c : kCases) {
    for (const char* format : {"yaml", "json"}) {
      for (int page = 0; page < 3; ++page) {
        v1::ListContainersResponse list;
        for (int i = 0; i < c.containers / 3; ++i) {
          list.add_containers()->set_id(absl::StrCat(page, "/", i, "/", std::string(240, 'x')));
        }
        if (page < 2) list.set_next_page_token(absl::StrCat(page));
        sidecar_.Answer("ListContainers", list);
      }
      const Outcome exported = Export({"-o", format});
      EXPECT_EQ(exported.code, ExitCode::kOk);
      EXPECT_THAT(exported.out, HasSubstr(absl::StrCat("2/", c.containers / 3 - 1, "/")));
      EXPECT_EQ(exported.out.size() > kMaxContainersFileBytes, c.is_too_long);
      EXPECT_THAT(exported.err,
                  HasSubstr(c.is_too_long ? "and apply takes 8388608: export the containers into "
                                            "several files"
                                          : ""));
      EXPECT_EQ(exported.err.empty(), !c.is_too_long) << exported.err;
    }
  }
}

TEST_F(ExportTest, ApplyFindsNothingToChange) {
  for (const std::vector<std::string>& format :
       {std::vector<std::string>{}, {"-o", "yaml"}, {"-o", "json"}}) {
    sidecar_.Answer("ListContainers", Two());
    const std::string exported = Export(format).out;
    Present("c", kEveryKey);
    Present("on", "");
    EXPECT_EQ(Run("-", {}, exported).out,
              "CONTAINER  OUTCOME    CHANGES\n"
              "c          unchanged\n"
              "on         unchanged\n");
    EXPECT_EQ(Changes(), 0);
  }
}

TEST_F(ExportTest, ContainersCanBeNamed) {
  Present("b", "");
  Present("a", "    default_ttl: 60\n");
  EXPECT_EQ(Export({"b", "a"}).out,
            "containers:\n"
            "  - id: b\n"
            "  - id: a\n"
            "    default_ttl: 60\n");
  Missing();
  const Outcome outcome = Export({"no-such"});
  EXPECT_EQ(outcome.code, ExitCode::kNotFound);
  EXPECT_THAT(outcome.out, IsEmpty());
}

}  // namespace
}  // namespace ttl
