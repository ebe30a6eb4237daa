#include "client/ttlctl/ttlctl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/windows_text.h"
#include "nlohmann/json.hpp"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/reason_status.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/container_service.pb.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::StartsWith;

// What a run left behind.
struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

std::string Line(const std::string& id, const std::string& more = "") {
  return absl::StrCat(R"({"id":")", id, R"(","ts":1000)", more, "}\n");
}

std::string ManyLines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += Line(absl::StrCat("i", i));
  return lines;
}

class TtlctlTest : public testing::Test {
 protected:
  Outcome Run(std::vector<std::string> arguments, const std::string& input = "",
              bool err_is_terminal = false) {
    arguments.insert(arguments.begin(), {"--server", sidecar_.address()});
    // The usual second for a look-up fails where the machine stands still for one.
    if (!absl::c_linear_search(arguments, "--timeout-seconds")) {
      arguments.insert(arguments.begin(), {"--timeout-seconds", "60"});
    }
    return RunAnywhere(arguments, input, err_is_terminal);
  }

  static Outcome RunAnywhere(const std::vector<std::string>& arguments,
                             const std::string& input = "", bool err_is_terminal = false) {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = RunTtlctl(arguments, {in, out, err, err_is_terminal});
    return {code, out.str(), err.str()};
  }

  // The only request of the method so far.
  template <typename Request>
  Request OnlyRequest(const std::string& method) {
    const auto requests = sidecar_.Requests<Request>(method);
    EXPECT_THAT(requests, SizeIs(1));
    return requests.at(0);
  }

  std::string WriteFile(const std::string& content) {
    const std::string path = directory_.File("import.jsonl");
    std::ofstream(path) << content;
    return path;
  }

  FakeSidecar sidecar_;
  TempDir directory_;
};

// Containers

TEST_F(TtlctlTest, CreateKeepsTheThreeStatesOfDefaultTtlApart) {
  EXPECT_EQ(Run({"containers", "create", "a"}).code, ExitCode::kOk);
  EXPECT_EQ(Run({"containers", "create", "b", "--default-ttl", "off"}).code, ExitCode::kOk);
  EXPECT_EQ(Run({"containers", "create", "c", "--default-ttl", "-1"}).code, ExitCode::kOk);
  EXPECT_EQ(Run({"containers", "create", "d", "--default-ttl", "60"}).code, ExitCode::kOk);
  const auto requests = sidecar_.Requests<v1::CreateContainerRequest>("CreateContainer");
  EXPECT_FALSE(requests[0].container().has_default_ttl());
  EXPECT_FALSE(requests[1].container().has_default_ttl());
  EXPECT_EQ(requests[2].container().default_ttl(), -1);
  EXPECT_EQ(requests[3].container().default_ttl(), 60);
}

TEST_F(TtlctlTest, CreateSendsThePolicy) {
  Run({"containers", "create", "salesdb/orders", "--indexing-mode", "lazy",
       "--max-deletes-per-second", "0.5", "--delay-seconds", "30"});
  const auto container = OnlyRequest<v1::CreateContainerRequest>("CreateContainer").container();
  EXPECT_EQ(container.id(), "salesdb/orders");
  EXPECT_EQ(container.indexing_mode(), v1::INDEXING_MODE_LAZY);
  EXPECT_EQ(container.delete_policy().max_deletes_per_second(), 0.5);
  EXPECT_EQ(container.delete_policy().delay().seconds(), 30);
}

TEST_F(TtlctlTest, SetNamesExactlyTheGivenFields) {
  Run({"containers", "set", "c", "--default-ttl", "off", "--max-deletes-per-second", "default",
       "--etag", "e1"});
  const auto request = OnlyRequest<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_THAT(request.update_mask().paths(),
              ElementsAre("default_ttl", "delete_policy.max_deletes_per_second"));
  EXPECT_FALSE(request.container().has_default_ttl());
  EXPECT_FALSE(request.container().delete_policy().has_max_deletes_per_second());
  EXPECT_EQ(request.container().etag(), "e1");
}

TEST_F(TtlctlTest, SettingsForHoldsAreTrueOrFalse) {
  Run({"containers", "create", "c", "--show-held", "true", "--requires-holds", "true"});
  const auto created = OnlyRequest<v1::CreateContainerRequest>("CreateContainer").container();
  EXPECT_TRUE(created.show_held());
  EXPECT_TRUE(created.requires_holds());
  Run({"containers", "set", "c", "--requires-holds", "false", "--show-held", "true"});
  const auto request = OnlyRequest<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_THAT(request.update_mask().paths(),
              testing::UnorderedElementsAre("requires_holds", "show_held"));
  EXPECT_TRUE(request.container().show_held());
  EXPECT_FALSE(request.container().requires_holds());
  EXPECT_EQ(Run({"containers", "set", "c", "--show-held", "yes"}).code, ExitCode::kUsage);
}

TEST_F(TtlctlTest, TouchesAreAllowedOrNot) {
  Run({"containers", "create", "c", "--allow-touch", "true"});
  EXPECT_TRUE(OnlyRequest<v1::CreateContainerRequest>("CreateContainer").container().allow_touch());
  Run({"containers", "set", "c", "--allow-touch", "false"});
  const auto request = OnlyRequest<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_THAT(request.update_mask().paths(), ElementsAre("allow_touch"));
  EXPECT_FALSE(request.container().allow_touch());
  EXPECT_THAT(Run({"containers", "set", "c"}).err, HasSubstr("--allow-touch"));
}

TEST_F(TtlctlTest, OnlyForceOverridesHolds) {
  for (const bool force : {false, true}) {
    std::vector<std::string> set = {"containers", "set", "c", "--indexing-mode", "none"};
    std::vector<std::string> remove = {"containers", "delete", "c", "--yes"};
    if (force) set.push_back("--force");
    if (force) remove.push_back("--force");
    EXPECT_EQ(Run(set).code, ExitCode::kOk);
    set.push_back("--dry-run");
    EXPECT_EQ(Run(set).code, ExitCode::kOk);
    EXPECT_EQ(Run(remove).code, ExitCode::kOk);
    const auto updates = sidecar_.Requests<v1::UpdateContainerRequest>("UpdateContainer");
    for (size_t i = updates.size() - 2; i < updates.size(); ++i) {
      EXPECT_EQ(updates[i].force(), force);
      EXPECT_EQ(updates[i].validate_only(), i == updates.size() - 1);
    }
    EXPECT_EQ(sidecar_.Requests<v1::DeleteContainerRequest>("DeleteContainer").back().force(),
              force);
  }
}

TEST_F(TtlctlTest, ARefusalBecauseHoldsStandNamesTheOptionOfTheCommand) {
  const std::vector<std::string> kCommands[] = {
      {"containers", "set", "c d", "--indexing-mode", "none"},
      {"containers", "set", "c d", "--indexing-mode", "none", "--dry-run"},
      {"containers", "delete", "c d", "--yes"}};
  for (const std::vector<std::string>& command : kCommands) {
    sidecar_.Fail(command[1] == "set" ? "UpdateContainer" : "DeleteContainer",
                  RefusalFor("HOLDS_STAND"));
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.code, ExitCode::kRefused);
    EXPECT_EQ(outcome.err,
              "ttlctl: refused (ttlctl holds list 'c d' shows them; --force overrides them)\n");
  }
}

TEST_F(TtlctlTest, SetWithoutASettingIsAUsageError) {
  const Outcome outcome = Run({"containers", "set", "c"});
  EXPECT_EQ(outcome.code, ExitCode::kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("--default-ttl"));
  EXPECT_EQ(sidecar_.Calls("UpdateContainer"), 0);
}

TEST_F(TtlctlTest, CreateSendsThroughputAndBrake) {
  Run({"containers", "create", "c", "--request-units-per-second", "400",
       "--request-units-per-delete", "2.5", "--min-deletes-per-second", "1", "--brake-items",
       "1000", "--brake-percent", "5", "--brake-release-seconds", "7200"});
  const auto policy =
      OnlyRequest<v1::CreateContainerRequest>("CreateContainer").container().delete_policy();
  EXPECT_EQ(policy.request_units_per_second(), 400);
  EXPECT_EQ(policy.request_units_per_delete(), 2.5);
  EXPECT_EQ(policy.min_deletes_per_second(), 1);
  EXPECT_EQ(policy.brake().max_newly_due_items(), 1000);
  EXPECT_EQ(policy.brake().max_newly_due_percent(), 5);
  EXPECT_EQ(policy.brake().release_after().seconds(), 7200);
}

TEST_F(TtlctlTest, CreateWithoutABrakeSendsNone) {
  Run({"containers", "create", "c", "--default-ttl", "5"});
  EXPECT_FALSE(
      OnlyRequest<v1::CreateContainerRequest>("CreateContainer").container().has_delete_policy());
}

TEST_F(TtlctlTest, NoneTakesASettingOut) {
  Run({"containers", "set", "c", "--request-units-per-second", "none", "--request-units-per-delete",
       "none", "--min-deletes-per-second", "none"});
  const auto request = OnlyRequest<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_THAT(request.update_mask().paths(), ElementsAre("delete_policy.request_units_per_second",
                                                         "delete_policy.request_units_per_delete",
                                                         "delete_policy.min_deletes_per_second"));
  const v1::DeletePolicy& policy = request.container().delete_policy();
  EXPECT_FALSE(policy.has_request_units_per_second());
  EXPECT_FALSE(policy.has_request_units_per_delete());
  EXPECT_FALSE(policy.has_min_deletes_per_second());
}

TEST_F(TtlctlTest, NumbersThatAreNoneAreUsageErrors) {
  for (const char* option :
       {"--request-units-per-second", "--request-units-per-delete", "--min-deletes-per-second",
        "--brake-items", "--brake-percent", "--brake-release-seconds"}) {
    const Outcome outcome = Run({"containers", "set", "c", option, "many"});
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << option;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(option), HasSubstr("many"))) << option;
  }
  EXPECT_EQ(sidecar_.Calls("UpdateContainer"), 0);
}

// A container whose brake has both limits.
v1::GetContainerResponse Braked() {
  v1::GetContainerResponse response;
  response.mutable_container()->set_etag("e7");
  v1::PolicyBrake& brake = *response.mutable_container()->mutable_delete_policy()->mutable_brake();
  brake.set_max_newly_due_items(1000);
  brake.set_max_newly_due_percent(5);
  brake.mutable_release_after()->set_seconds(7200);
  return response;
}

TEST_F(TtlctlTest, PartsOfABrakeAreSetOneByOne) {
  sidecar_.Answer("GetContainer", Braked());
  Run({"containers", "set", "c", "--brake-items", "7", "--brake-percent", "none"});
  const auto request = OnlyRequest<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_THAT(request.update_mask().paths(), ElementsAre("delete_policy.brake"));
  const v1::PolicyBrake& brake = request.container().delete_policy().brake();
  EXPECT_EQ(brake.max_newly_due_items(), 7);
  EXPECT_FALSE(brake.has_max_newly_due_percent());
  EXPECT_EQ(brake.release_after().seconds(), 7200);
  EXPECT_EQ(request.container().etag(), "e7") << "so that nobody else's change is overwritten";
}

TEST_F(TtlctlTest, ABrakeWithoutLimitsIsTakenOut) {
  sidecar_.Answer("GetContainer", Braked());
  Run({"containers", "set", "c", "--brake-items", "none", "--brake-percent", "none"});
  const auto request = OnlyRequest<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_THAT(request.update_mask().paths(), ElementsAre("delete_policy.brake"));
  EXPECT_FALSE(request.container().delete_policy().has_brake());
}

TEST_F(TtlctlTest, WindowsAreCreated) {
  Run({"containers", "create", "c", "--windows", "mon-fri 22:00-06:00 500/s;sat,SUN 00:00-24:00",
       "--windows-time-zone", "Europe/Berlin", "--max-deletes-per-second-outside", "5"});
  const auto windows = OnlyRequest<v1::CreateContainerRequest>("CreateContainer")
                           .container()
                           .delete_policy()
                           .windows();
  EXPECT_EQ(WindowsText(windows), "mon-fri 22:00-06:00 500/s; sat,sun 00:00-24:00");
  EXPECT_EQ(windows.windows(1).days(0), v1::DAY_OF_WEEK_SATURDAY);
  EXPECT_EQ(windows.time_zone(), "Europe/Berlin");
  EXPECT_EQ(windows.max_deletes_per_second_outside(), 5);
}

// A container with a window.
v1::GetContainerResponse AtNight() {
  v1::GetContainerResponse response;
  response.mutable_container()->set_etag("e7");
  v1::DeleteWindows& windows =
      *response.mutable_container()->mutable_delete_policy()->mutable_windows();
  windows.add_windows()->set_start("22:00");
  windows.mutable_windows(0)->set_end("06:00");
  windows.set_time_zone("Europe/Berlin");
  windows.set_max_deletes_per_second_outside(5);
  return response;
}

TEST_F(TtlctlTest, PartsOfWindowsAreSetOneByOne) {
  const struct {
    std::vector<std::string> options;
    const char* want;
  } kCases[] = {
      {{"--windows", "01:00-02:00; fri-mon 03:00-04:00 0"},
       "01:00-02:00; mon,fri-sun 03:00-04:00 0/s Europe/Berlin 5"},
      {{"--windows-time-zone", "UTC"}, "22:00-06:00 UTC 5"},
      {{"--max-deletes-per-second-outside", "none"}, "22:00-06:00 Europe/Berlin 0"},
  };
  for (const auto& c : kCases) {
    sidecar_.Answer("GetContainer", AtNight());
    std::vector<std::string> command = {"containers", "set", "c"};
    command.insert(command.end(), c.options.begin(), c.options.end());
    Run(command);
    const auto request = sidecar_.Requests<v1::UpdateContainerRequest>("UpdateContainer").back();
    EXPECT_THAT(request.update_mask().paths(), ElementsAre("delete_policy.windows"));
    const v1::DeleteWindows& windows = request.container().delete_policy().windows();
    EXPECT_EQ(absl::StrCat(WindowsText(windows), " ", windows.time_zone(), " ",
                           windows.max_deletes_per_second_outside()),
              c.want);
    EXPECT_EQ(request.container().etag(), "e7") << "so that nobody else's change is overwritten";
  }
}

TEST_F(TtlctlTest, NoneTakesAllWindowsOut) {
  sidecar_.Answer("GetContainer", AtNight());
  Run({"containers", "set", "c", "--windows", "none"});
  const auto request = OnlyRequest<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_THAT(request.update_mask().paths(), ElementsAre("delete_policy.windows"));
  EXPECT_FALSE(request.container().delete_policy().has_windows());
}

TEST_F(TtlctlTest, WindowsThatAreNoneAreUsageErrors) {
  for (const char* text :
       {"", "22:00", "22:00-25:00", "mon", "mon 22:00-", "monday 22:00-06:00", "22:00-06:00 fast",
        "22:00-06:00 5 5", "22:00-06:00;", "mon-wed-fri 22:00-06:00"}) {
    const Outcome outcome = Run({"containers", "set", "c", "--windows", text});
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << text;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("--windows"), HasSubstr("mon-fri 22:00-06:00")));
  }
  EXPECT_EQ(sidecar_.Calls("UpdateContainer"), 0);
}

TEST_F(TtlctlTest, ABrakeThatNeverHadALimitIsLeftToTheServerToRefuse) {
  Run({"containers", "set", "c", "--brake-release-seconds", "60"});
  const auto request = OnlyRequest<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_TRUE(request.container().delete_policy().brake().has_release_after());
}

TEST_F(TtlctlTest, SetSaysThatTheBrakeIsPulledAndHowToLetItGo) {
  v1::UpdateContainerResponse updated;
  updated.mutable_container()->set_id("c");
  updated.mutable_container()->mutable_delete_policy()->mutable_brake()->set_max_newly_due_items(5);
  sidecar_.Answer("UpdateContainer", updated);
  v1::GetExpiryStatusResponse status;
  status.mutable_container()->mutable_brake()->set_newly_due_items(1234);
  sidecar_.Answer("GetExpiryStatus", status);
  EXPECT_THAT(Run({"containers", "set", "c", "--default-ttl", "5"}).out,
              AllOf(HasSubstr("PULLED"), HasSubstr("1,234 items due"),
                    HasSubstr("ttlctl containers confirm c")));
}

TEST_F(TtlctlTest, DryRunChangesNothingAndSaysWhatWouldHappen) {
  v1::UpdateContainerResponse response;
  response.mutable_container()->set_id("c");
  response.mutable_preview()->set_newly_expired_items(500);
  sidecar_.Answer("UpdateContainer", response);
  EXPECT_THAT(Run({"containers", "set", "c", "--default-ttl", "5", "--dry-run"}).out,
              AllOf(HasSubstr("nothing was changed"), HasSubstr("500 would be hidden")));
  const auto request = OnlyRequest<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_TRUE(request.validate_only());
  EXPECT_EQ(request.container().default_ttl(), 5);

  sidecar_.Answer("UpdateContainer", response);
  const Outcome outcome =
      Run({"containers", "set", "c", "--default-ttl", "5", "--dry-run", "--json"});
  EXPECT_EQ(json::parse(outcome.out)["preview"]["newly_expired_items"], "500");
}

TEST_F(TtlctlTest, ConfirmNamesContainerAndEtag) {
  EXPECT_THAT(Run({"containers", "confirm", "c", "--etag", "e1"}).out, HasSubstr("is confirmed"));
  const auto request = OnlyRequest<v1::ConfirmPolicyRequest>("ConfirmPolicy");
  EXPECT_EQ(request.container(), "c");
  EXPECT_EQ(request.etag(), "e1");
  sidecar_.Fail("ConfirmPolicy", {grpc::StatusCode::FAILED_PRECONDITION, "no brake is pulled"});
  EXPECT_EQ(Run({"containers", "confirm", "c"}).code, ExitCode::kRefused);
}

TEST_F(TtlctlTest, ListPrintsOneJsonObjectPerLine) {
  v1::ListContainersResponse response;
  response.add_containers()->set_id("a");
  response.add_containers()->set_id("b");
  response.mutable_containers(1)->set_default_ttl(60);
  sidecar_.Answer("ListContainers", response);
  std::istringstream lines(Run({"--json", "containers", "list"}).out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_FALSE(json::parse(line).contains("default_ttl"));
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(json::parse(line)["id"], "b");
  EXPECT_EQ(json::parse(line)["default_ttl"], "60");
}

TEST_F(TtlctlTest, ContainersMayBeNamedLikeCommands) {
  EXPECT_EQ(Run({"containers", "get", "list"}).code, ExitCode::kOk);
  EXPECT_EQ(Run({"containers", "get", "status"}).code, ExitCode::kOk);
  EXPECT_EQ(Run({"status", "pause"}).code, ExitCode::kOk);
  const auto requests = sidecar_.Requests<v1::GetContainerRequest>("GetContainer");
  EXPECT_EQ(requests[0].id(), "list");
  EXPECT_EQ(requests[1].id(), "status");
}

TEST_F(TtlctlTest, DeleteSaysHowManyItForgetsAndAsks) {
  v1::GetExpiryStatusResponse status;
  status.mutable_container()->mutable_items()->set_tracked_items(1234567);
  for (const std::string answer : {"y\n", "yes\n", "n\n", "\n", "", "Y"}) {
    sidecar_.Answer("GetExpiryStatus", status);
    std::istringstream in(answer);
    std::ostringstream out;
    std::ostringstream err;
    const int before = sidecar_.Calls("DeleteContainer");
    const ExitCode code = RunTtlctl(
        {"--server", sidecar_.address(), "--timeout-seconds", "60", "containers", "delete", "c"},
        {in, out, err, /*err_is_terminal=*/true, /*in_is_terminal=*/true});
    const bool confirmed = answer[0] == 'y';
    EXPECT_EQ(code, confirmed ? ExitCode::kOk : ExitCode::kRefused) << answer;
    EXPECT_EQ(sidecar_.Calls("DeleteContainer") - before, confirmed ? 1 : 0) << answer;
    EXPECT_THAT(err.str(), HasSubstr("\"c\" and its 1,234,567 tracked items? They will not"));
  }
}

TEST_F(TtlctlTest, DeleteWhereNobodyCanBeAskedNeedsYes) {
  v1::GetExpiryStatusResponse status;
  status.mutable_container()->mutable_items()->set_tracked_items(7);
  sidecar_.Answer("GetExpiryStatus", status);
  const Outcome refused = Run({"containers", "delete", "c"}, "y\n");
  EXPECT_EQ(refused.code, ExitCode::kUsage);
  EXPECT_EQ(refused.err,
            "ttlctl: this would remove container \"c\" and its 7 tracked items, and standard input "
            "is not a terminal: give --yes\n");
  EXPECT_EQ(sidecar_.Calls("DeleteContainer"), 0);
  sidecar_.Answer("GetExpiryStatus", status);
  EXPECT_EQ(Run({"containers", "delete", "c", "--yes"}).out,
            "deleted container c and its 7 tracked items; nothing is deleted in the store\n");
  EXPECT_EQ(sidecar_.Calls("DeleteContainer"), 1);
}

TEST_F(TtlctlTest, DeleteSaysHowManyHoldsItForgets) {
  v1::GetExpiryStatusResponse status;
  status.mutable_container()->mutable_items()->set_tracked_items(7);
  status.mutable_container()->mutable_hold_counts()->set_holds(2);
  sidecar_.Answer("GetExpiryStatus", status);
  EXPECT_EQ(Run({"containers", "delete", "c", "--yes", "--force"}).out,
            "deleted container c and its 7 tracked items and 2 holds; nothing is deleted in the "
            "store\n");
}

TEST_F(TtlctlTest, DeleteSendsTheEtag) {
  EXPECT_EQ(Run({"containers", "delete", "c", "--etag", "e1", "--yes"}).code, ExitCode::kOk);
  EXPECT_EQ(OnlyRequest<v1::DeleteContainerRequest>("DeleteContainer").etag(), "e1");
}

// Items

TEST_F(TtlctlTest, TrackSendsEveryField) {
  const Outcome outcome = Run({"items", "track", "c", R"(a\x00b)", "--ts", "1000", "--ttl", "-1",
                               "--partition-key", R"(p\\q)", "--etag", "e", "--sequence",
                               "18446744073709551615", "--size-bytes", "5", "--expire-at", "2000"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_EQ(outcome.out, "tracked\n");
  const auto item = OnlyRequest<v1::TrackItemsRequest>("TrackItems").items(0);
  EXPECT_EQ(item.id(), std::string("a\0b", 3));
  EXPECT_EQ(item.partition_key(), "p\\q");
  EXPECT_EQ(item.ts(), 1000);
  EXPECT_EQ(item.ttl(), -1);
  EXPECT_EQ(item.etag(), "e");
  EXPECT_EQ(item.sequence(), 18446744073709551615u);
  EXPECT_EQ(item.size_bytes(), 5);
  EXPECT_EQ(item.expire_at(), 2000);
}

TEST_F(TtlctlTest, NumbersAreDecimalAndWhole) {
  Run({"items", "track", "c", "a", "--ts", "0100"});
  EXPECT_EQ(OnlyRequest<v1::TrackItemsRequest>("TrackItems").items(0).ts(), 100);
  for (const char* bad : {"1.5", "0x10", "1e3", "", "ten"}) {
    EXPECT_EQ(Run({"items", "track", "c", "a", "--ts", bad}).code, ExitCode::kUsage) << bad;
  }
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 1);
}

TEST_F(TtlctlTest, OddIdsArriveAsGiven) {
  EXPECT_EQ(Run({"items", "check", "[c]", "[a,b]", "{}", "", "a,b", "é", "'q'", "x=y"}).code,
            ExitCode::kOk);
  const auto request = OnlyRequest<v1::CheckVisibilityRequest>("CheckVisibility");
  EXPECT_EQ(request.container(), "[c]");
  std::vector<std::string> ids;
  for (const auto& check : request.checks()) ids.push_back(check.id());
  EXPECT_THAT(ids, ElementsAre("[a,b]", "{}", "", "a,b", "é", "'q'", "x=y"));
}

TEST_F(TtlctlTest, CheckExitCodeTellsVisibleExpiredAndUntrackedApart) {
  struct Case {
    std::vector<v1::Visibility> answers;
    ExitCode code;
  };
  const Case cases[] = {
      {{v1::VISIBILITY_VISIBLE, v1::VISIBILITY_VISIBLE}, ExitCode::kOk},
      {{v1::VISIBILITY_VISIBLE, v1::VISIBILITY_EXPIRED}, ExitCode::kExpired},
      {{v1::VISIBILITY_UNTRACKED, v1::VISIBILITY_EXPIRED}, ExitCode::kExpired},
      {{v1::VISIBILITY_UNTRACKED, v1::VISIBILITY_VISIBLE}, ExitCode::kUntracked},
  };
  for (const Case& c : cases) {
    v1::CheckVisibilityResponse response;
    for (const v1::Visibility visibility : c.answers) {
      response.add_visibilities(visibility);
      response.add_expire_times(0);
    }
    sidecar_.Answer("CheckVisibility", response);
    EXPECT_EQ(Run({"items", "check", "c", "a", "b"}).code, c.code);
  }
}

TEST_F(TtlctlTest, CheckCarriesWhatTheStoreHasRead) {
  Run({"items", "check", "c", "a", "--partition-key", "p", "--ts", "1000", "--ttl", "60",
       "--expire-at", "2000"});
  const auto check = OnlyRequest<v1::CheckVisibilityRequest>("CheckVisibility").checks(0);
  EXPECT_EQ(check.partition_key(), "p");
  EXPECT_EQ(check.ts(), 1000);
  EXPECT_EQ(check.ttl(), 60);
  EXPECT_EQ(check.expire_at(), 2000);
  EXPECT_EQ(Run({"items", "check", "c", "a", "--ttl", "60"}).code, ExitCode::kUsage);
  EXPECT_EQ(Run({"items", "check", "c", "a", "--expire-at", "60"}).code, ExitCode::kUsage);
}

TEST_F(TtlctlTest, CheckJsonIsTheResponse) {
  v1::CheckVisibilityResponse response;
  response.add_visibilities(v1::VISIBILITY_EXPIRED);
  response.add_expire_times(1060);
  response.mutable_judged_at()->set_seconds(1060);
  sidecar_.Answer("CheckVisibility", response);
  EXPECT_EQ(json::parse(Run({"items", "check", "c", "a", "--json"}).out),
            json::parse(R"({"visibilities": ["VISIBILITY_EXPIRED"], "expire_times": ["1060"],
                            "judged_at": "1970-01-01T00:17:40Z"})"));
}

TEST_F(TtlctlTest, ListStopsAtItsLimitAndSaysSo) {
  v1::ListItemsResponse page;
  for (int i = 0; i < 3; ++i) page.add_items()->mutable_item()->set_id(absl::StrCat("i", i));
  page.set_next_page_token("more");
  sidecar_.Answer("ListItems", page);
  sidecar_.Answer("ListItems", page);
  const Outcome outcome = Run({"items", "list", "c", "--limit", "6", "--show-expired"});
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 7);
  EXPECT_THAT(outcome.err, HasSubstr("--limit 0"));
  const auto requests = sidecar_.Requests<v1::ListItemsRequest>("ListItems");
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_TRUE(requests[0].show_expired());
  EXPECT_EQ(requests[0].page_size(), 6);
  EXPECT_EQ(requests[1].page_size(), 3);
  EXPECT_EQ(requests[1].page_token(), "more");
}

TEST_F(TtlctlTest, ListSaysOnceThatTheDataAreInDoubt) {
  v1::ListItemsResponse page;
  page.add_items()->mutable_item()->set_id("a");
  page.set_next_page_token("more");
  page.set_data_in_doubt(true);
  sidecar_.Answer("ListItems", page);
  page.clear_next_page_token();
  sidecar_.Answer("ListItems", page);
  EXPECT_EQ(Run({"items", "list", "c", "--limit", "0"}).err,
            "ttlctl: warning: the tracked data is in doubt (see ttlctl status)\n");
  page.set_data_in_doubt(false);
  sidecar_.Answer("ListItems", page);
  EXPECT_EQ(Run({"items", "list", "c"}).err, "");
}

TEST_F(TtlctlTest, ListWithoutLimitGoesOnPastAnEmptyPage) {
  v1::ListItemsResponse page;
  page.set_next_page_token("more");
  sidecar_.Answer("ListItems", page);
  page.clear_next_page_token();
  page.add_items()->mutable_item()->set_id("last");
  sidecar_.Answer("ListItems", page);
  EXPECT_THAT(Run({"items", "list", "c", "--limit", "0"}).out, HasSubstr("last"));
}

TEST_F(TtlctlTest, ExplainOfAnUntrackedItemIsNotFound) {
  sidecar_.Fail("ExplainItem", {grpc::StatusCode::NOT_FOUND, "item \"a\" is not tracked"});
  const Outcome outcome = Run({"items", "explain", "c", "a"});
  EXPECT_EQ(outcome.code, ExitCode::kNotFound);
  EXPECT_EQ(outcome.err, "ttlctl: item \"a\" is not tracked\n");
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST_F(TtlctlTest, UntrackTellsWhatBecameOfIt) {
  v1::UntrackItemsResponse response;
  response.add_results(v1::UNTRACK_RESULT_STALE);
  sidecar_.Answer("UntrackItems", response);
  EXPECT_THAT(Run({"items", "untrack", "c", "a", "--ts", "1000"}).out, StartsWith("stale"));
}

TEST_F(TtlctlTest, TouchSendsItsKeysAndTellsWhatBecameOfEach) {
  sidecar_.Answer("TouchItems",
                  Proto<v1::TouchItemsResponse>("touch_time: 1000 "
                                                "results: TOUCH_RESULT_TOUCHED expire_times: 1060 "
                                                "results: TOUCH_RESULT_RECENT expire_times: 0"));
  const Outcome outcome = Run({"items", "touch", "c", R"(a\x00)", "[b,c]", "--partition-key", "p",
                               "--unless-within", "5m"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_EQ(outcome.out,
            "ITEM       RESULT               EXPIRES\n"
            "p / a\\x00  touched              1970-01-01T00:17:40Z\n"
            "p / [b,c]  recent: not touched  never\n");
  const auto request = OnlyRequest<v1::TouchItemsRequest>("TouchItems");
  EXPECT_EQ(request.container(), "c");
  EXPECT_EQ(request.keys(0).id(), std::string("a\0", 2));
  EXPECT_EQ(request.keys(1).partition_key(), "p");
  EXPECT_EQ(request.keys(1).id(), "[b,c]");
  EXPECT_EQ(request.unless_touched_within().seconds(), 300);
}

TEST_F(TtlctlTest, TouchExitCodeTellsExpiredAndUntrackedApart) {
  const struct {
    const char* results;
    ExitCode code;
  } kCases[] = {
      {"results: TOUCH_RESULT_TOUCHED results: TOUCH_RESULT_RECENT", ExitCode::kOk},
      {"results: TOUCH_RESULT_TOUCHED results: TOUCH_RESULT_EXPIRED", ExitCode::kExpired},
      {"results: TOUCH_RESULT_NOT_TRACKED results: TOUCH_RESULT_EXPIRED", ExitCode::kExpired},
      {"results: TOUCH_RESULT_NOT_TRACKED results: TOUCH_RESULT_TOUCHED", ExitCode::kUntracked},
  };
  for (const auto& c : kCases) {
    sidecar_.Answer("TouchItems", Proto<v1::TouchItemsResponse>(
                                      absl::StrCat(c.results, " expire_times: 0 expire_times: 0")));
    EXPECT_EQ(Run({"items", "touch", "c", "a", "b"}).code, c.code) << c.results;
  }
  sidecar_.Fail("TouchItems", RefusalFor("TOUCH_NOT_ALLOWED"));
  const Outcome refused = Run({"items", "touch", "c d", "a"});
  EXPECT_EQ(refused.code, ExitCode::kRefused);
  EXPECT_EQ(refused.err,
            "ttlctl: refused (ttlctl containers set --allow-touch true 'c d' allows it)\n");
  EXPECT_EQ(Run({"items", "touch", "c"}).code, ExitCode::kUsage);
  EXPECT_EQ(Run({"items", "touch", "c", "a", "--unless-within", "soon"}).code, ExitCode::kUsage);
}

TEST_F(TtlctlTest, TouchJsonIsTheResponse) {
  sidecar_.Answer("TouchItems",
                  Proto<v1::TouchItemsResponse>(
                      "touch_time: 1000 results: TOUCH_RESULT_TOUCHED expire_times: 1060"));
  EXPECT_EQ(json::parse(Run({"items", "touch", "c", "a", "--json"}).out),
            json::parse(R"({"results": ["TOUCH_RESULT_TOUCHED"], "expire_times": ["1060"],
                            "touch_time": "1000"})"));
}

// Import

TEST_F(TtlctlTest, ImportSendsAFileInBatches) {
  const Outcome outcome = Run({"import", "c", WriteFile(ManyLines(2500))});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_EQ(outcome.out,
            "2,500 items imported: 2,500 tracked, 0 stale (a newer report is tracked)\n");
  EXPECT_THAT(outcome.err, IsEmpty());
  const auto requests = sidecar_.Requests<v1::TrackItemsRequest>("TrackItems");
  ASSERT_THAT(requests, SizeIs(3));
  for (const v1::TrackItemsRequest& request : requests) EXPECT_TRUE(request.adopted());
  EXPECT_EQ(requests[2].items_size(), 500);
  EXPECT_EQ(requests[2].items(499).id(), "i2499");
}

TEST_F(TtlctlTest, BadLineInAFileSendsNothing) {
  const std::string path = WriteFile(ManyLines(1500) + Line("x", R"(,"ttl":0)") + Line("y"));
  const Outcome outcome = Run({"import", "c", path});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_EQ(outcome.err,
            absl::StrCat("ttlctl: ", path,
                         ": line 1501: \"ttl\" is 0: it must be -1 or a whole number from 1 to "
                         "2147483647, null or left out; nothing was imported\n"));
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 0);
}

TEST_F(TtlctlTest, BadLineOnStandardInputSaysWhatIsImported) {
  const Outcome outcome = Run({"import", "c", "-"}, ManyLines(1500) + "{}\n");
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("line 1501: \"id\" is missing"),
                                 HasSubstr("lines 1 to 1000 are imported, nothing after")));
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 1);
}

TEST_F(TtlctlTest, BadFirstLineOnStandardInputImportsNothing) {
  EXPECT_THAT(Run({"import", "c", "-"}, "{}\n").err,
              AllOf(HasSubstr("standard input: line 1: "), HasSubstr("; nothing was imported\n")));
}

TEST_F(TtlctlTest, RefusalByTheServerNamesTheLine) {
  sidecar_.Fail("TrackItems", {grpc::StatusCode::INVALID_ARGUMENT, "items[1].ts is too far ahead"});
  const Outcome outcome = Run({"import", "c", "-"}, Line("a") + "\n\n" + Line("b") + Line("c"));
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_EQ(outcome.err,
            "ttlctl: standard input: line 4: items[1].ts is too far ahead; nothing was imported, "
            "lines 1 to 5 "
            "are not, nothing after\n");
}

TEST_F(TtlctlTest, UnansweredBatchIsSaidToBeOfUnknownFate) {
  sidecar_.Fail("TrackItems", {grpc::StatusCode::UNAVAILABLE, "going down"});
  const Outcome outcome = Run({"import", "c", "-"}, Line("a"));
  EXPECT_EQ(outcome.code, ExitCode::kUnreachable);
  EXPECT_THAT(outcome.err, HasSubstr("lines 1 to 1 may be, nothing after"));
}

TEST_F(TtlctlTest, ImportCountsStaleReports) {
  v1::TrackItemsResponse response;
  response.add_results(v1::TRACK_RESULT_STALE);
  response.add_results(v1::TRACK_RESULT_TRACKED);
  sidecar_.Answer("TrackItems", response);
  EXPECT_EQ(json::parse(Run({"import", "c", "-", "--json"}, Line("a") + Line("b")).out),
            json({{"items", 2}, {"tracked", 1}, {"stale", 1}}));
}

TEST_F(TtlctlTest, ImportReadsALastLineWithoutNewlineAndCarriageReturns) {
  Run({"import", "c", "-"}, "{\"id\":\"a\",\"ts\":1}\r\n{\"id\":\"b\",\"ts\":2}");
  EXPECT_EQ(OnlyRequest<v1::TrackItemsRequest>("TrackItems").items(1).id(), "b");
}

TEST_F(TtlctlTest, OverlongLineIsRefused) {
  const Outcome outcome =
      Run({"import", "c", "-"}, Line("a") + std::string(100000, 'x') + "\n" + Line("b"));
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.err, HasSubstr("line 2: longer than 65536 bytes"));
}

TEST_F(TtlctlTest, EmptyImportSucceedsWithoutACall) {
  EXPECT_EQ(Run({"import", "c", "-"}, "").code, ExitCode::kOk);
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 0);
}

TEST_F(TtlctlTest, MissingFileIsAUsageErrorNotANotFound) {
  EXPECT_EQ(Run({"import", "c", directory_.File("nowhere")}).code, ExitCode::kUsage);
  EXPECT_EQ(Run({"import", "c", directory_.path()}).code, ExitCode::kUsage);
}

TEST_F(TtlctlTest, ProgressIsDrawnOnlyOnATerminal) {
  const std::string path = WriteFile(ManyLines(10000));
  EXPECT_THAT(Run({"import", "c", path}, "", true).err, HasSubstr("10,000 items imported"));
  EXPECT_THAT(Run({"import", "c", path}, "", false).err, IsEmpty());
}

// Status and levers

TEST_F(TtlctlTest, StatusWithoutAContainerShowsAll) {
  v1::ListExpiryStatusesResponse response;
  response.add_containers()->set_container("salesdb/orders");
  response.mutable_sidecar()->mutable_clock()->set_state(v1::CLOCK_STATE_SOUND);
  sidecar_.Answer("ListExpiryStatuses", response);
  EXPECT_THAT(Run({"status"}).out, AllOf(HasSubstr("sound"), HasSubstr("salesdb/orders")));
}

TEST_F(TtlctlTest, StatusJsonIsTheResponse) {
  v1::GetExpiryStatusResponse response;
  response.mutable_container()->set_container("c");
  response.mutable_container()->add_holds(v1::DELETE_HOLD_RATE);
  sidecar_.Answer("GetExpiryStatus", response);
  const json status = json::parse(Run({"status", "c", "--json"}).out);
  EXPECT_EQ(status["container"]["holds"], json({"DELETE_HOLD_RATE"}));
  EXPECT_EQ(OnlyRequest<v1::GetExpiryStatusRequest>("GetExpiryStatus").container(), "c");
}

TEST_F(TtlctlTest, PauseNeedsAReasonAndOneTarget) {
  EXPECT_EQ(Run({"pause", "c"}).code, ExitCode::kUsage);
  EXPECT_EQ(Run({"pause", "--reason", "x"}).code, ExitCode::kUsage);
  EXPECT_EQ(Run({"pause", "c", "--all", "--reason", "x"}).code, ExitCode::kUsage);
  EXPECT_EQ(sidecar_.Calls("PauseDeletes"), 0);
  EXPECT_EQ(Run({"pause", "--all", "--reason", "restore"}).code, ExitCode::kOk);
  EXPECT_TRUE(OnlyRequest<v1::PauseDeletesRequest>("PauseDeletes").all_containers());
}

// Whoever may pause, or answer as the store, could else do as he likes with the terminals
// of all who look.
TEST_F(TtlctlTest, WhatOthersWroteCannotSteerTheTerminal) {
  const std::string evil = "\x1b[2J\r\xC2\x9B";
  const std::string tame = R"(\x1b[2J\x0d\xc2\x9b)";
  v1::PauseDeletesResponse pause;
  pause.mutable_pause()->set_reason(evil);
  sidecar_.Answer("PauseDeletes", pause);
  EXPECT_THAT(Run({"pause", "c", "--reason", "x"}).out, HasSubstr(tame));

  v1::ListStuckItemsResponse stuck;
  stuck.add_items()->set_last_error(evil);
  sidecar_.Answer("ListStuckItems", stuck);
  EXPECT_THAT(Run({"stuck", "c"}).out, HasSubstr(tame));

  sidecar_.Fail("AcceptClock", {grpc::StatusCode::FAILED_PRECONDITION, "no \x1b[2J"});
  EXPECT_EQ(Run({"clock", "accept"}).err, "ttlctl: no \\x1b[2J\n");
}

TEST_F(TtlctlTest, ResumeNamesItsTarget) {
  EXPECT_EQ(Run({"resume"}).code, ExitCode::kUsage);
  EXPECT_EQ(Run({"resume", "c"}).code, ExitCode::kOk);
  EXPECT_EQ(OnlyRequest<v1::ResumeDeletesRequest>("ResumeDeletes").container(), "c");
}

TEST_F(TtlctlTest, ResumeSaysWhatItFound) {
  EXPECT_EQ(Run({"resume", "c"}).out, "deletes of c were not paused\n");
  v1::GetExpiryStatusResponse found;
  found.mutable_container()->mutable_pause()->set_reason("upgrade");
  sidecar_.Answer("GetExpiryStatus", found);
  EXPECT_THAT(Run({"resume", "c"}).out,
              testing::StartsWith("deletes of c are resumed after the pause \"upgrade\" since "));
  found.mutable_container()->mutable_pause()->set_author("cn:ops");
  sidecar_.Answer("GetExpiryStatus", found);
  EXPECT_THAT(Run({"resume", "c"}).out, EndsWith("Z by cn:ops\n"));
  sidecar_.Answer("GetExpiryStatus", found);
  EXPECT_THAT(Run({"status", "c"}).out, HasSubstr("Z by cn:ops\n"));
  found.mutable_sidecar()->mutable_pause()->set_reason("restore");
  sidecar_.Answer("GetExpiryStatus", found);
  EXPECT_THAT(Run({"resume", "c"}).out, HasSubstr("; all containers are paused: \"restore\""));
  sidecar_.Answer("GetExpiryStatus", found);
  EXPECT_THAT(Run({"resume", "--all"}).out,
              AllOf(HasSubstr("deletes of all containers are resumed after the pause \"restore\""),
                    HasSubstr("containers with a pause of their own stay paused")));
}

TEST_F(TtlctlTest, NumberTooLargeForAnyServerIsRefusedAsByTheServer) {
  const std::string large = "99999999999999999999";
  for (const std::string& number : {large, "-" + large}) {
    const Outcome outcome = Run({"containers", "create", "c", "--default-ttl", number});
    EXPECT_EQ(outcome.code, ExitCode::kRefused);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("--default-ttl"), HasSubstr("too large")));
  }
  EXPECT_EQ(Run({"containers", "create", "c", "--delay-seconds", large}).code, ExitCode::kRefused);
  EXPECT_EQ(Run({"containers", "create", "c", "--brake-items", large}).code, ExitCode::kRefused);
  EXPECT_EQ(Run({"items", "track", "c", "a", "--ts", "1", "--ttl", large + "d"}).code,
            ExitCode::kRefused);
  EXPECT_EQ(sidecar_.Calls("CreateContainer"), 0);
}

TEST_F(TtlctlTest, DurationsAreTakenWhereSecondsAre) {
  Run({"containers", "create", "c", "--default-ttl", "30d", "--delay-seconds", "1h30m",
       "--brake-items", "1", "--brake-release-seconds", "2w"});
  const auto container = OnlyRequest<v1::CreateContainerRequest>("CreateContainer").container();
  EXPECT_EQ(container.default_ttl(), 30 * 86400);
  EXPECT_EQ(container.delete_policy().delay().seconds(), 5400);
  EXPECT_EQ(container.delete_policy().brake().release_after().seconds(), 14 * 86400);
  Run({"items", "track", "c", "a", "--ts", "1000", "--ttl", "90m"});
  EXPECT_EQ(OnlyRequest<v1::TrackItemsRequest>("TrackItems").items(0).ttl(), 5400);
  Run({"items", "check", "c", "a", "--ts", "1000", "--ttl", "1d"});
  EXPECT_EQ(OnlyRequest<v1::CheckVisibilityRequest>("CheckVisibility").checks(0).ttl(), 86400);
  EXPECT_EQ(RunAnywhere({"--server", sidecar_.address(), "--timeout-seconds", "2m", "status"}).code,
            ExitCode::kOk);
}

TEST_F(TtlctlTest, WhatIsNoDurationIsNamedWithWhatWouldBeRight) {
  EXPECT_THAT(
      Run({"containers", "create", "c", "--default-ttl", "1y"}).err,
      HasSubstr("--default-ttl: \"1y\" must be off, -1, seconds, or a duration such as 90m, "
                "1h30m or 30d (see "));
  EXPECT_THAT(Run({"items", "track", "c", "a", "--ts", "1", "--ttl", "5 m"}).err,
              HasSubstr("--ttl: \"5 m\" must be seconds, or a duration such as "));
  EXPECT_THAT(Run({"status", "--timeout-seconds", "soon"}).err,
              HasSubstr("--timeout-seconds: \"soon\" must be a number above 0"));
  EXPECT_THAT(Run({"status", "--timeout-seconds", "inf"}).err,
              HasSubstr("\"inf\" must be a finite number above 0, or a duration such as 90s"));
}

TEST_F(TtlctlTest, ServerWithoutAPortIsRefused) {
  for (const char* server : {"localhost", "dns:///sidecar.example", "[::1]", "ipv4:127.0.0.1"}) {
    const Outcome outcome = RunAnywhere({"status", "--server", server});
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << server;
    EXPECT_THAT(outcome.err, HasSubstr("has no port")) << server;
  }
  for (const char* server : {"127.0.0.1:1", "dns:///localhost:1", "[::1]:1"}) {
    EXPECT_EQ(RunAnywhere({"status", "--server", server}).code, ExitCode::kUnreachable) << server;
  }
}

TEST_F(TtlctlTest, ClockAcceptRefusedByTheServerIsOneLine) {
  sidecar_.Fail("AcceptClock",
                {grpc::StatusCode::FAILED_PRECONDITION, "the clock is\nnot suspect"});
  const Outcome outcome = Run({"clock", "accept"});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_EQ(outcome.err, "ttlctl: the clock is not suspect\n");
  EXPECT_EQ(Run({"clock", "show"}).code, ExitCode::kOk);
}

TEST_F(TtlctlTest, ItemsAreListedByTheirExpireTimesAndAsOfATime) {
  EXPECT_EQ(
      Run({"items", "list", "c", "--expire-from", "100", "--expire-to", "200", "--as-of", "50"})
          .code,
      ExitCode::kOk);
  const auto request = OnlyRequest<v1::ListItemsRequest>("ListItems");
  EXPECT_EQ(request.expire_time_from(), 100);
  EXPECT_EQ(request.expire_time_to(), 200);
  EXPECT_EQ(request.as_of().seconds(), 50);
}

TEST_F(TtlctlTest, ItemsOfOnePartitionAreListed) {
  Run({"items", "list", "c", "--partition-key", R"(p\x00\\)", "--expired-only"});
  Run({"items", "list", "c", "--partition-key", ""});
  Run({"items", "list", "c"});
  const auto requests = sidecar_.Requests<v1::ListItemsRequest>("ListItems");
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_EQ(requests[0].partition_key(), std::string("p\0\\", 3));
  EXPECT_TRUE(requests[0].expired_only());
  EXPECT_TRUE(requests[1].has_partition_key()) << "the empty one";
  EXPECT_EQ(requests[1].partition_key(), "");
  EXPECT_FALSE(requests[1].expired_only());
  EXPECT_FALSE(requests[2].has_partition_key());
  const Outcome wrong = Run({"items", "list", "c", "--partition-key", R"(p\q)"});
  EXPECT_EQ(wrong.code, ExitCode::kUsage);
  EXPECT_THAT(wrong.err, HasSubstr("--partition-key: "));
}

TEST_F(TtlctlTest, ContainersAreListedByTheirIdsAndTtl) {
  Run({"containers", "list", "--id-prefix", "sales/", "--ttl-on-only"});
  Run({"containers", "list", "--id-prefix", "[a,b]"});
  Run({"containers", "list"});
  const auto requests = sidecar_.Requests<v1::ListContainersRequest>("ListContainers");
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_EQ(requests[0].id_prefix(), "sales/");
  EXPECT_TRUE(requests[0].ttl_on_only());
  EXPECT_EQ(requests[1].id_prefix(), "[a,b]");
  EXPECT_FALSE(requests[1].ttl_on_only());
  EXPECT_EQ(requests[2].id_prefix(), "");
  const Outcome wrong = Run({"containers", "list", "--id-prefix", "\xff"});
  EXPECT_EQ(wrong.code, ExitCode::kUsage);
  EXPECT_THAT(wrong.err, HasSubstr("--id-prefix: the id of a container is UTF-8"));
}

TEST_F(TtlctlTest, ItemsAreCheckedAsOfATime) {
  Run({"items", "check", "c", "a", "--as-of", "50"});
  Run({"items", "check", "c", "a"});
  const auto requests = sidecar_.Requests<v1::CheckVisibilityRequest>("CheckVisibility");
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].as_of().seconds(), 50);
  EXPECT_FALSE(requests[1].has_as_of());
}

TEST_F(TtlctlTest, ForecastIsOfAllContainersForADayBySidecarsClock) {
  v1::GetExpiryStatusResponse status;
  status.mutable_sidecar()->mutable_clock()->mutable_now()->set_seconds(1000);
  sidecar_.Answer("GetExpiryStatus", status);
  v1::GetForecastResponse forecast;
  forecast.set_data_in_doubt(true);
  sidecar_.Answer("GetForecast", forecast);
  const Outcome outcome = Run({"forecast"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.out, HasSubstr("backlog"));
  EXPECT_THAT(outcome.err, HasSubstr("is in doubt"));
  const auto request = OnlyRequest<v1::GetForecastRequest>("GetForecast");
  EXPECT_TRUE(request.all_containers());
  EXPECT_EQ(request.until().seconds(), 1000 + 86400);
  EXPECT_FALSE(request.has_step());
  EXPECT_FALSE(request.has_default_ttl());
}

TEST_F(TtlctlTest, ForecastPassesItsOptions) {
  v1::GetForecastResponse forecast;
  forecast.add_steps()->set_items(5);
  sidecar_.Answer("GetForecast", forecast);
  const Outcome outcome =
      Run({"forecast", "c", "--for", "600", "--step", "60", "--default-ttl", "-1", "--json"});
  EXPECT_EQ(json::parse(outcome.out)["steps"][0]["items"], "5");
  const auto request = OnlyRequest<v1::GetForecastRequest>("GetForecast");
  EXPECT_EQ(request.container(), "c");
  EXPECT_EQ(request.until().seconds(), 600);
  EXPECT_EQ(request.step().seconds(), 60);
  EXPECT_EQ(request.default_ttl(), -1);
  sidecar_.Fail("GetForecast", {grpc::StatusCode::NOT_FOUND, "no such container"});
  EXPECT_EQ(Run({"forecast", "c"}).code, ExitCode::kNotFound);
  EXPECT_EQ(Run({"forecast", "c", "--step", "often"}).code, ExitCode::kUsage);
}

v1::ListStuckItemsResponse Stuck(int count, const std::string& token) {
  v1::ListStuckItemsResponse page;
  for (int i = 0; i < count; ++i) {
    v1::StuckItem& item = *page.add_items();
    item.set_partition_key("p");
    item.set_id(absl::StrCat("i", i));
    item.set_attempts(3);
    item.set_last_error("row is\nlocked");
    item.set_next_try_time(1000);
  }
  page.set_next_page_token(token);
  return page;
}

TEST_F(TtlctlTest, StuckItemsAreATable) {
  sidecar_.Answer("ListStuckItems", Stuck(1, ""));
  EXPECT_EQ(Run({"stuck", "c"}).out,
            "ITEM    ATTEMPTS  NEXT TRY              LAST ERROR\n"
            "p / i0  3         1970-01-01T00:16:40Z  row is\\x0alocked\n");
  EXPECT_EQ(OnlyRequest<v1::ListStuckItemsRequest>("ListStuckItems").container(), "c");
}

TEST_F(TtlctlTest, StuckItemsAreListedUpToTheLimit) {
  sidecar_.Answer("ListStuckItems", Stuck(1000, "more"));
  sidecar_.Answer("ListStuckItems", Stuck(500, "and more"));
  const Outcome outcome = Run({"stuck", "c", "--limit", "1500", "--json"});
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1500);
  EXPECT_THAT(outcome.err, HasSubstr("--limit 0"));
  const auto requests = sidecar_.Requests<v1::ListStuckItemsRequest>("ListStuckItems");
  EXPECT_EQ(requests[1].page_token(), "more");
  EXPECT_EQ(requests[1].page_size(), 500);
  EXPECT_EQ(Run({"stuck", "c", "--limit", "-1"}).code, ExitCode::kUsage);
}

TEST_F(TtlctlTest, LimitsAreANumberNoneOrTheServersOwn) {
  v1::SetMaxDeletesPerSecondResponse five;
  five.set_max_deletes_per_second(5);
  sidecar_.Answer("SetMaxDeletesPerSecond", five);
  EXPECT_EQ(Run({"limits", "set", "--max-deletes-per-second", "5"}).out,
            "deletes over all containers: 5/s; before: no limit\n");
  v1::GetExpiryStatusResponse found;
  found.mutable_sidecar()->set_max_deletes_per_second(5);
  sidecar_.Answer("GetExpiryStatus", found);
  EXPECT_EQ(Run({"limits", "set", "--max-deletes-per-second", "none"}).out,
            "deletes over all containers: no limit; before: 5/s\n");
  EXPECT_EQ(Run({"limits", "set", "--max-deletes-per-second", "default"}).code, ExitCode::kOk);
  const auto requests =
      sidecar_.Requests<v1::SetMaxDeletesPerSecondRequest>("SetMaxDeletesPerSecond");
  EXPECT_EQ(requests[0].max_deletes_per_second(), 5);
  EXPECT_TRUE(requests[1].unlimited());
  EXPECT_TRUE(requests[2].server_default());
  EXPECT_EQ(Run({"limits", "set", "--max-deletes-per-second", "few"}).code, ExitCode::kUsage);
  EXPECT_EQ(Run({"limits", "set"}).code, ExitCode::kUsage);
}

TEST_F(TtlctlTest, LimitsAreShown) {
  v1::ListExpiryStatusesResponse statuses;
  EXPECT_EQ(Run({"limits", "show"}).out, "over all containers  no limit\n");
  statuses.mutable_sidecar()->set_max_deletes_per_second(50);
  statuses.add_containers()->set_container("carts");
  statuses.add_containers()->set_container("orders");
  statuses.mutable_containers(1)->set_allowed_deletes_per_second(7.25);
  sidecar_.Answer("ListExpiryStatuses", statuses);
  EXPECT_EQ(Run({"limits", "show"}).out,
            "over all containers  50/s\n"
            "\n"
            "CONTAINER  ALLOWED NOW\n"
            "carts      no limit\n"
            "orders     7.25/s\n");
  sidecar_.Answer("ListExpiryStatuses", statuses);
  EXPECT_EQ(json::parse(Run({"limits", "show", "-o", "json"}).out),
            json::parse(R"({"max_deletes_per_second": 50, "containers": [
                {"container": "carts", "allowed_deletes_per_second": null},
                {"container": "orders", "allowed_deletes_per_second": 7.25}]})"));
}

TEST_F(TtlctlTest, AStoreIsConfirmedByItsId) {
  EXPECT_EQ(Run({"store", "confirm"}).code, ExitCode::kUsage);
  EXPECT_THAT(Run({"store", "confirm", "store-2"}).out, HasSubstr("store-2 is confirmed"));
  EXPECT_EQ(OnlyRequest<v1::ConfirmStoreRequest>("ConfirmStore").store_id(), "store-2");
}

// The command line as a whole

TEST_F(TtlctlTest, UnreachableServerHasItsOwnExitCode) {
  const Outcome outcome =
      RunAnywhere({"status", "--server", absl::StrCat("unix:", directory_.File("nobody.sock"))});
  EXPECT_EQ(outcome.code, ExitCode::kUnreachable);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("nobody.sock"), HasSubstr("TTL_SIDECAR_ADDRESS")));
}

TEST_F(TtlctlTest, TimeoutSecondsBoundsACall) {
  sidecar_.Hang("ListContainers");
  const Outcome outcome = Run({"containers", "list", "--timeout-seconds", "0.05"});
  EXPECT_EQ(outcome.code, ExitCode::kUnreachable);
  EXPECT_THAT(outcome.err, HasSubstr("within 50ms"));
}

TEST_F(TtlctlTest, BadCommandLinesAreUsageErrorsOnOneLine) {
  const std::vector<std::vector<std::string>> bad = {
      {},
      {"bogus"},
      {"items"},
      {"items", "track", "c", "a"},
      {"items", "check", "c", R"(a\q)", "b"},
      {"items", "list", "c", "--limit", "-1"},
      {"containers", "create", ""},
      {"containers", "create", "\xff"},
      {"containers", "create", "c", "--default-ttl", "1h1d"},
      {"containers", "create", "c", "--indexing-mode", "eager"},
      {"containers", "create", "c", "--max-deletes-per-second", "fast"},
      {"containers", "list", "--timeout-seconds", "0"},
      {"containers", "list", "--timeout-seconds", "nan"},
      {"containers", "list", "extra"},
  };
  for (const auto& arguments : bad) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.err, MatchesRegex("ttlctl: [^\n]+--help\\)\n"));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(TtlctlTest, WhatIsNoSubcommandIsNamed) {
  EXPECT_THAT(Run({"bogus"}).err, HasSubstr("\"bogus\" is not a subcommand"));
  EXPECT_THAT(Run({"--bogus"}).err, HasSubstr("\"--bogus\" is not a subcommand or option"));
  EXPECT_THAT(Run({"items", "bogus"}).err,
              AllOf(HasSubstr("\"bogus\""), HasSubstr("see ttlctl items --help")));
  EXPECT_THAT(Run({"items"}).err, HasSubstr("A subcommand is required"));
}

TEST_F(TtlctlTest, WhatIsNoAddressIsAUsageError) {
  for (const std::string& server :
       {std::string(), std::string("unix:"), "unix:/" + std::string(107, 's')}) {
    const Outcome outcome = RunAnywhere({"--server", server, "status"});
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << server;
    EXPECT_THAT(outcome.err, HasSubstr(absl::StrCat("--server: \"", server, "\" must be")));
  }
}

TEST_F(TtlctlTest, OutputThatIsLostIsAFailure) {
  std::istringstream in;
  std::ostream full(nullptr);
  std::ostringstream err;
  EXPECT_EQ(RunTtlctl({"--server", sidecar_.address(), "containers", "list"}, {in, full, err}),
            ExitCode::kRefused);
  EXPECT_THAT(err.str(), HasSubstr("could not be written"));
}

TEST_F(TtlctlTest, VersionIsPrinted) {
  const Outcome outcome = RunAnywhere({"--version"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.out, MatchesRegex("ttlctl [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(TtlctlTest, HelpListsTheExitCodes) {
  const Outcome outcome = Run({"--help"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  for (int code = 0; code <= 7; ++code) {
    EXPECT_THAT(outcome.out, HasSubstr(absl::StrCat("\n  ", code, "  ")));
  }
  EXPECT_THAT(Run({"items", "track", "--help"}).out, HasSubstr("--partition-key"));
}

TEST_F(TtlctlTest, JsonHasTheFieldNamesOfTheProtos) {
  v1::GetContainerResponse response;
  response.mutable_container()->mutable_create_time()->set_seconds(0);
  sidecar_.Answer("GetContainer", response);
  EXPECT_EQ(json::parse(Run({"containers", "get", "c", "--json"}).out)["create_time"],
            "1970-01-01T00:00:00Z");
}

}  // namespace
}  // namespace ttl
