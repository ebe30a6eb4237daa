// ttlctl holds: place, release, list, keys, export, apply and accept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/ttlctl/ttlctl.h"
#include "nlohmann/json.hpp"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/container_service.pb.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/hold_service.pb.h"

namespace ttl {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr int64_t kNow = 1'800'000'000;

const grpc::Status kUnreachable(grpc::StatusCode::UNAVAILABLE, "gone");

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

std::string ManyKeys(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) absl::StrAppend(&lines, "p/i", i, "\n");
  return lines;
}

class TtlctlHoldsTest : public testing::Test {
 protected:
  Outcome Run(std::vector<std::string> arguments, const std::string& input = "",
              bool err_is_terminal = false) {
    return RunAt(sidecar_, std::move(arguments), input, err_is_terminal);
  }

  Outcome RunAt(const FakeSidecar& sidecar, std::vector<std::string> arguments,
                const std::string& input = "", bool err_is_terminal = false) {
    arguments.insert(arguments.begin(),
                     {"--server", sidecar.address(), "--timeout-seconds", "60", "holds"});
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = RunTtlctl(arguments, {in, out, err, err_is_terminal});
    return {code, out.str(), err.str()};
  }

  // holds place c case-17 --reason why
  Outcome Place(const std::vector<std::string>& scope, const std::string& input = "",
                bool err_is_terminal = false) {
    std::vector<std::string> arguments = {"place", "c", "case-17", "--reason", "why"};
    arguments.insert(arguments.end(), scope.begin(), scope.end());
    return Run(arguments, input, err_is_terminal);
  }

  std::string WriteFile(const std::string& content) {
    const std::string path = directory_.File("input");
    std::ofstream(path) << content;
    return path;
  }

  std::vector<v1::PlaceHoldRequest> Placed() const {
    return sidecar_.Requests<v1::PlaceHoldRequest>("PlaceHold");
  }

  std::vector<std::string> Accepted() const { return AcceptedBy(sidecar_); }

  static std::vector<std::string> AcceptedBy(const FakeSidecar& sidecar) {
    std::vector<std::string> containers;
    for (const auto& request : sidecar.Requests<v1::AcceptHoldsRequest>("AcceptHolds")) {
      containers.push_back(request.container());
    }
    return containers;
  }

  // The sidecar's clock shows kNow when it is asked the next time.
  void TellTime() {
    v1::GetExpiryStatusResponse status;
    status.mutable_sidecar()->mutable_clock()->mutable_now()->set_seconds(kNow);
    sidecar_.Answer("GetExpiryStatus", status);
  }

  // The next list of statuses has the containers a and b; the holds of `in_doubt` are in doubt.
  void AnswerStatuses(const std::string& in_doubt) {
    v1::ListExpiryStatusesResponse statuses;
    for (const char* id : {"a", "b"}) {
      v1::ContainerExpiryStatus& status = *statuses.add_containers();
      status.set_container(id);
      if (id == in_doubt) status.add_holds(v1::DELETE_HOLD_HOLDS_IN_DOUBT);
    }
    sidecar_.Answer("ListExpiryStatuses", statuses);
  }

  FakeSidecar sidecar_;
  TempDir directory_;
};

// place

TEST_F(TtlctlHoldsTest, PlaceSendsTheScopeThatIsGiven) {
  EXPECT_EQ(Place({"--key", "p/a", "--key", "b"}).code, ExitCode::kOk);
  EXPECT_EQ(Place({"--key", "p/a", "b"}).code, ExitCode::kOk);
  EXPECT_EQ(Place({"--partition-key", "p"}).code, ExitCode::kOk);
  EXPECT_EQ(Place({"--partition-key", ""}).code, ExitCode::kOk);
  EXPECT_EQ(Place({"--all"}).code, ExitCode::kOk);
  const std::string hold = "container: 'c' hold_id: 'case-17' reason: 'why' ";
  const std::string keys = "keys { keys { partition_key: 'p' id: 'a' } keys { id: 'b' } }";
  const std::string expected[] = {keys, keys, "partition_key: 'p'", "partition_key: ''",
                                  "all_items: true"};
  ASSERT_THAT(Placed(), SizeIs(5));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Placed()[i].DebugString(),
              Proto<v1::PlaceHoldRequest>(hold + expected[i]).DebugString());
  }
}

TEST_F(TtlctlHoldsTest, PlaceTakesExactlyOneScope) {
  for (const std::vector<std::string>& scope : {std::vector<std::string>{},
                                                {"--all", "--key", "a"},
                                                {"--partition-key", "p", "--all"},
                                                {"--key", "a", "--keys-file", "-"}}) {
    const Outcome outcome = Place(scope);
    EXPECT_EQ(outcome.code, ExitCode::kUsage);
    EXPECT_EQ(outcome.err, "ttlctl: give one of --key, --keys-file, --partition-key and --all\n");
  }
  EXPECT_THAT(Placed(), IsEmpty());
}

TEST_F(TtlctlHoldsTest, PlaceNeedsAReason) {
  const Outcome outcome = Run({"place", "c", "case-17", "--all"});
  EXPECT_EQ(outcome.code, ExitCode::kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("--reason"));
}

TEST_F(TtlctlHoldsTest, KeysAreBytesAndASlashInsideThemIsWrittenInHex) {
  EXPECT_EQ(Place({"--key", "a\\x2fb/\\x00\\\\", "[x,y]"}).code, ExitCode::kOk);
  const v1::HeldKeys keys = Placed()[0].keys();
  EXPECT_EQ(keys.keys(0).partition_key(), "a/b");
  EXPECT_EQ(keys.keys(0).id(), std::string("\0\\", 2));
  EXPECT_EQ(keys.keys(1).id(), "[x,y]");
  for (const char* key : {"a/b/c", "a\\", "a/\\x4"}) {
    EXPECT_EQ(Place({"--key", key}).code, ExitCode::kUsage) << key;
  }
  EXPECT_THAT(Place({"--key", "a/b/c"}).err,
              HasSubstr("more than one slash: it must be PARTITION/"));
  EXPECT_THAT(Placed(), SizeIs(1));
}

TEST_F(TtlctlHoldsTest, TheEndIsATimeOrADurationByTheSidecarsClock) {
  const std::pair<std::vector<std::string>, int64_t> kCases[] = {
      {{"--until", "1900000000"}, 1'900'000'000},
      {{"--until", "2027-06-30T12:00:00Z"}, 1'814'356'800},
      {{"--until", "2027-06-30T14:00:00+02:00"}, 1'814'356'800},
      {{"--for", "30d"}, kNow + 30 * 86'400},
      {{"--for", "60"}, kNow + 60},
  };
  for (const auto& [end, seconds] : kCases) {
    if (end[0] == "--for") TellTime();
    std::vector<std::string> arguments = end;
    arguments.push_back("--all");
    EXPECT_EQ(Place(arguments).code, ExitCode::kOk) << end[1];
    EXPECT_EQ(Placed().back().until().seconds(), seconds) << end[1];
  }
  EXPECT_EQ(Place({"--all"}).code, ExitCode::kOk);
  EXPECT_FALSE(Placed().back().has_until());
}

TEST_F(TtlctlHoldsTest, WhatIsNoEndIsNamedWithWhatWouldBeRight) {
  for (const char* until : {"tomorrow", "2027-06-30", "", "1e9", "-1", "253402300800"}) {
    const Outcome outcome = Place({"--all", "--until", until});
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << until;
    EXPECT_THAT(outcome.err, HasSubstr(absl::StrCat("--until: \"", until, "\" must be"))) << until;
  }
  EXPECT_EQ(Place({"--all", "--for", "soon"}).code, ExitCode::kUsage);
  EXPECT_EQ(Place({"--all", "--for", "1d", "--until", "1900000000"}).code, ExitCode::kUsage);
  EXPECT_THAT(Placed(), IsEmpty());
}

TEST_F(TtlctlHoldsTest, PlaceShowsTheHoldAndEveryKeyThatWasNotFound) {
  sidecar_.Answer("PlaceHold", Proto<v1::PlaceHoldResponse>(R"(
      hold { container: 'c' hold_id: 'case-17' reason: 'why' author: 'cn=me' key_count: 3
             until { seconds: 1900000000 } create_time { seconds: 1800000000 } }
      results: PLACE_HOLD_RESULT_HELD
      results: PLACE_HOLD_RESULT_NOT_TRACKED
      results: PLACE_HOLD_RESULT_ALREADY_DELETED)"));
  EXPECT_EQ(Place({"--key", "p/a", "b", "d"}).out,
            "hold       case-17\n"
            "container  c\n"
            "covers     3 keys\n"
            "until      2030-03-17T17:46:40Z\n"
            "reason     why\n"
            "author     cn=me\n"
            "placed     2027-01-15T08:00:00Z\n"
            "\n"
            "3 keys: 1 held, 1 not tracked, 1 already deleted\n"
            "ITEM  RESULT\n"
            "b     not tracked\n"
            "d     already deleted\n");
}

TEST_F(TtlctlHoldsTest, KeysOfAFileAreSentAThousandAtATime) {
  const Outcome outcome = Place({"--keys-file", WriteFile(ManyKeys(2500))});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.out, HasSubstr("2,500 keys: 2,500 held, 0 not tracked"));
  ASSERT_THAT(Placed(), SizeIs(3));
  EXPECT_EQ(Placed()[1].keys().keys_size(), 1000);
  EXPECT_EQ(Placed()[2].keys().keys(0).id(), "i2000");
  EXPECT_EQ(Placed()[2].keys().keys_size(), 500);
  EXPECT_EQ(Placed()[2].hold_id(), "case-17");
  EXPECT_EQ(Placed()[2].reason(), "why");
}

TEST_F(TtlctlHoldsTest, KeysMayComeFromStandardInputWithBlankLinesAndCarriageReturns) {
  EXPECT_EQ(Place({"--keys-file", "-"}, "a\r\n\n  \np/b").code, ExitCode::kOk);
  EXPECT_EQ(
      Placed()[0].keys().DebugString(),
      Proto<v1::HeldKeys>("keys { id: 'a' } keys { partition_key: 'p' id: 'b' }").DebugString());
}

TEST_F(TtlctlHoldsTest, AWrongLineOfAKeysFileHoldsNothing) {
  const std::string path = WriteFile(ManyKeys(1500) + "a/b/c\n");
  const Outcome outcome = Place({"--keys-file", path});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(": line 1501: \"a/b/c\" has more than one slash"),
                                 EndsWith("; nothing is held\n")));
  EXPECT_THAT(Placed(), IsEmpty());
}

TEST_F(TtlctlHoldsTest, AKeysFileWithoutKeysOrThatIsNoneIsAnError) {
  EXPECT_EQ(Place({"--keys-file", WriteFile("\n")}).err, "ttlctl: no keys; nothing is held\n");
  EXPECT_EQ(Place({"--keys-file", directory_.File("none")}).code, ExitCode::kUsage);
  EXPECT_EQ(Place({"--keys-file", "/"}).code, ExitCode::kUsage);
  EXPECT_THAT(Placed(), IsEmpty());
}

TEST_F(TtlctlHoldsTest, AFailureSaysWhichKeysAreHeld) {
  const std::string path = WriteFile(ManyKeys(2500));
  v1::PlaceHoldResponse placed;
  for (int i = 0; i < 1000; ++i) placed.add_results(v1::PLACE_HOLD_RESULT_HELD);
  sidecar_.Answer("PlaceHold", placed);
  sidecar_.Fail("PlaceHold", {grpc::StatusCode::INVALID_ARGUMENT, "keys.keys[5].id is too long"});
  EXPECT_EQ(Place({"--keys-file", path}).err,
            "ttlctl: keys.keys[5].id is too long; 1,000 keys are held, keys 1001 to 2000 are not, "
            "nothing was sent for the others\n");
  for (int i = 0; i < 4; ++i) sidecar_.Fail("PlaceHold", kUnreachable);
  const Outcome unknown = Place({"--keys-file", path});
  EXPECT_EQ(unknown.code, ExitCode::kUnreachable);
  EXPECT_THAT(unknown.err, HasSubstr("; 0 keys are held, keys 1 to 1000 may be, nothing was sent"));
}

TEST_F(TtlctlHoldsTest, AnAnswerWithoutAResultPerKeyIsAnError) {
  sidecar_.Answer("PlaceHold", v1::PlaceHoldResponse());
  const Outcome outcome = Place({"--key", "a"});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.err, HasSubstr("0 results for 1 keys"));
}

TEST_F(TtlctlHoldsTest, PlaceInJsonIsOneResponsePerThousandKeys) {
  const Outcome outcome = Place({"--keys-file", WriteFile(ManyKeys(1001)), "-o", "json"});
  const std::vector<std::string> lines = absl::StrSplit(outcome.out, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(json::parse(lines[0])["results"].size(), 1000u);
  EXPECT_EQ(json::parse(lines[1])["results"][0], "PLACE_HOLD_RESULT_HELD");
}

TEST_F(TtlctlHoldsTest, KeysThatWereNotFoundAreListedUpToALimit) {
  v1::PlaceHoldResponse none;
  for (int i = 0; i < 30; ++i) none.add_results(v1::PLACE_HOLD_RESULT_NOT_TRACKED);
  sidecar_.Answer("PlaceHold", none);
  EXPECT_THAT(Place({"--keys-file", "-"}, ManyKeys(30)).out,
              AllOf(HasSubstr("p / i19  not tracked"), Not(HasSubstr("p / i20")),
                    EndsWith("and 10 more; -o json shows all results\n")));
}

TEST_F(TtlctlHoldsTest, ProgressIsDrawnOnlyOnATerminal) {
  EXPECT_EQ(Place({"--keys-file", "-"}, ManyKeys(1500)).err, "");
  EXPECT_THAT(Place({"--keys-file", "-"}, ManyKeys(1500), /*err_is_terminal=*/true).err,
              AllOf(HasSubstr("1,000 keys held"), EndsWith("\r\033[K")));
}

// release, accept, list, keys

TEST_F(TtlctlHoldsTest, ReleaseAndAcceptNameWhatTheyFree) {
  EXPECT_EQ(Run({"release", "c", "case-17"}).out,
            "released hold case-17 of container c: expired items that no other hold covers will be "
            "deleted\n");
  const auto release = sidecar_.Requests<v1::ReleaseHoldRequest>("ReleaseHold")[0];
  EXPECT_EQ(release.container(), "c");
  EXPECT_EQ(release.hold_id(), "case-17");
  EXPECT_EQ(Run({"accept", "c"}).out,
            "the holds of container c are accepted as complete: what they do not cover may be "
            "deleted\n");
  EXPECT_THAT(Accepted(), ElementsAre("c"));
}

TEST_F(TtlctlHoldsTest, AHoldThatIsNotThereIsNotFound) {
  sidecar_.Fail("ReleaseHold", {grpc::StatusCode::NOT_FOUND, "no hold case-17"});
  const Outcome outcome = Run({"release", "c", "case-17"});
  EXPECT_EQ(outcome.code, ExitCode::kNotFound);
  EXPECT_EQ(outcome.err, "ttlctl: no hold case-17\n");
}

v1::ListHoldsResponse ThreeHolds() {
  return Proto<v1::ListHoldsResponse>(R"(
      holds { container: 'a' hold_id: 'all' reason: 'incident' all_items: true }
      holds { container: 'a' hold_id: 'case-17' reason: 'court' key_count: 1500
              until { seconds: 1900000000 } }
      holds { container: 'b' hold_id: 'x' reason: 'audit' partition_key: 'p\001' })");
}

TEST_F(TtlctlHoldsTest, ListShowsTheHoldsOfAllContainersOrOne) {
  sidecar_.Answer("ListHolds", ThreeHolds());
  EXPECT_EQ(Run({"list"}).out,
            "CONTAINER / HOLD  COVERS       UNTIL                 REASON\n"
            "a / all           all items    released              incident\n"
            "a / case-17       1,500 keys   2030-03-17T17:46:40Z  court\n"
            "b / x             a partition  released              partition key p\\x01; audit\n");
  EXPECT_EQ(Run({"list", "c"}).out, "no holds\n");
  const auto requests = sidecar_.Requests<v1::ListHoldsRequest>("ListHolds");
  EXPECT_EQ(requests[0].container(), "");
  EXPECT_EQ(requests[1].container(), "c");
}

TEST_F(TtlctlHoldsTest, ListInJsonIsOneHoldPerLine) {
  sidecar_.Answer("ListHolds", ThreeHolds());
  const Outcome outcome = Run({"list", "-o", "json"});
  const std::vector<std::string> lines = absl::StrSplit(outcome.out, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(json::parse(lines[0])["all_items"], true);
  EXPECT_EQ(json::parse(lines[1])["key_count"], "1500");
}

TEST_F(TtlctlHoldsTest, KeysAreShownPageByPage) {
  sidecar_.Answer("ListHeldKeys",
                  Proto<v1::ListHeldKeysResponse>("keys { id: 'a' } next_page_token: 'n'"));
  sidecar_.Answer("ListHeldKeys",
                  Proto<v1::ListHeldKeysResponse>("keys { partition_key: 'p' id: 'b\\n' }"));
  EXPECT_EQ(Run({"keys", "c", "case-17"}).out,
            "PARTITION KEY  ID\n"
            "\"\"             a\n"
            "p              b\\x0a\n");
  const auto requests = sidecar_.Requests<v1::ListHeldKeysRequest>("ListHeldKeys");
  EXPECT_EQ(requests[1].page_token(), "n");
  EXPECT_EQ(requests[1].hold_id(), "case-17");
}

// export and apply

constexpr char kLines[] =
    R"({"container":"a","hold_id":"all","reason":"incident","all_items":true})"
    "\n"
    R"({"container":"a","hold_id":"k","reason":"court","keys":{"keys":[{"id":"YQ=="}]}})"
    "\n";
const std::string kExport =
    absl::StrCat(kLines, R"({"end":{"containers":["a","b"],"lines":2}})", "\n");

TEST_F(TtlctlHoldsTest, ExportWritesAllHoldsWithAllTheirKeys) {
  for (int i = 0; i < 2; ++i) AnswerStatuses("");
  sidecar_.Answer("ListHolds", ThreeHolds());
  sidecar_.Answer("ListHeldKeys",
                  Proto<v1::ListHeldKeysResponse>("keys { id: 'a' } next_page_token: 'n'"));
  sidecar_.Answer("ListHeldKeys",
                  Proto<v1::ListHeldKeysResponse>("keys { partition_key: 'p' id: 'b' }"));
  const Outcome outcome = Run({"export"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_EQ(outcome.out,
            R"({"container":"a","hold_id":"all","reason":"incident","all_items":true}
{"container":"a","hold_id":"case-17","reason":"court","until":"2030-03-17T17:46:40Z","keys":{"keys":[{"id":"YQ=="}]}}
{"container":"a","hold_id":"case-17","reason":"court","until":"2030-03-17T17:46:40Z","keys":{"keys":[{"partition_key":"cA==","id":"Yg=="}]}}
{"container":"b","hold_id":"x","reason":"audit","partition_key":"cAE="}
{"end":{"containers":["a","b"],"lines":4}}
)");
  EXPECT_EQ(sidecar_.Requests<v1::ListHeldKeysRequest>("ListHeldKeys")[0].page_size(), 1000);
}

TEST_F(TtlctlHoldsTest, ExportOfSomeContainersNamesThem) {
  EXPECT_EQ(Run({"export", "b", "a"}).out,
            "{\"end\":{\"containers\":[\"a\",\"b\"],\"lines\":0}}\n");
  const auto requests = sidecar_.Requests<v1::ListHoldsRequest>("ListHolds");
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].container(), "b");
}

TEST_F(TtlctlHoldsTest, ExportDoesNotNameContainersWhoseHoldsWereOrBecameInDoubt) {
  const std::pair<std::string, std::string> kBeforeAndAfter[] = {{"b", "b"}, {"b", ""}, {"", "b"}};
  for (const auto& [before, after] : kBeforeAndAfter) {
    AnswerStatuses(before);
    AnswerStatuses(after);
    const Outcome outcome = Run({"export"});
    EXPECT_EQ(outcome.code, ExitCode::kRefused) << before << after;
    EXPECT_EQ(outcome.out, "{\"end\":{\"containers\":[\"a\"],\"lines\":0}}\n") << before << after;
    EXPECT_THAT(outcome.err, EndsWith("does not name them; keep the last file that does: b\n"));
  }
}

TEST_F(TtlctlHoldsTest, ExportOfAContainerWhoseHoldsAreInDoubtNamesNone) {
  sidecar_.Answer("GetExpiryStatus", Proto<v1::GetExpiryStatusResponse>(
                                         "container { holds: DELETE_HOLD_HOLDS_IN_DOUBT }"));
  const Outcome outcome = Run({"export", "a"});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_EQ(outcome.out, "{\"end\":{\"containers\":[],\"lines\":0}}\n");
}

TEST_F(TtlctlHoldsTest, AContainerThatIsDeletedDuringTheExportIsNotNamed) {
  AnswerStatuses("");
  EXPECT_EQ(Run({"export"}).out, "{\"end\":{\"containers\":[],\"lines\":0}}\n");
}

TEST_F(TtlctlHoldsTest, AnExportThatFailsHasNoLastLine) {
  sidecar_.Answer("ListHolds", ThreeHolds());
  sidecar_.Fail("ListHeldKeys", {grpc::StatusCode::INTERNAL, "cannot read"});
  const Outcome outcome = Run({"export", "a"});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.out, Not(HasSubstr("end")));
}

TEST_F(TtlctlHoldsTest, AHoldThatIsReleasedMeanwhileDoesNotEndTheExport) {
  sidecar_.Answer("ListHolds", ThreeHolds());
  sidecar_.Fail("ListHeldKeys", {grpc::StatusCode::NOT_FOUND, "no hold case-17"});
  const Outcome outcome = Run({"export", "a"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"x\""), HasSubstr("\"lines\":2")));
}

TEST_F(TtlctlHoldsTest, ExportIsNoYaml) {
  EXPECT_EQ(Run({"export", "-o", "yaml"}).code, ExitCode::kUsage);
}

TEST_F(TtlctlHoldsTest, ApplyPlacesEveryHoldAndThenAcceptsTheContainers) {
  const Outcome outcome = Run({"apply", WriteFile(kExport)});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_EQ(outcome.out,
            "placed 2 holds with 1 key: 0 not tracked, 0 already deleted\n"
            "accepted the holds of 2 containers\n");
  ASSERT_THAT(Placed(), SizeIs(2));
  EXPECT_EQ(Placed()[1].DebugString(),
            Proto<v1::PlaceHoldRequest>("container: 'a' hold_id: 'k' reason: 'court' keys { keys "
                                        "{ id: 'a' } }")
                .DebugString());
  EXPECT_THAT(Accepted(), ElementsAre("a", "b"));
}

TEST_F(TtlctlHoldsTest, ApplyReadsStandardInputAndFilesThatWereJoined) {
  const Outcome outcome =
      Run({"apply", "-", "-o", "json"},
          absl::StrCat(kExport, R"({"container":"d","hold_id":"k","reason":"r","all_items":true})",
                       "\n", R"({"end":{"containers":["d"],"lines":1}})"));
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(Accepted(), ElementsAre("a", "b", "d"));
  EXPECT_EQ(json::parse(outcome.out)["holds"], 3);
  EXPECT_EQ(json::parse(outcome.out)["accepted_containers"].size(), 3u);
}

TEST_F(TtlctlHoldsTest, LinesOfOneHoldAreOneHold) {
  std::string file;
  for (const char* id : {"YQ==", "Yg=="}) {
    absl::StrAppend(&file, R"({"container":"a","hold_id":"k","reason":"r","keys":{"keys":[{"id":")",
                    id, "\"}]}}\n");
  }
  EXPECT_THAT(Run({"apply", "-", "--no-accept"}, file).out,
              StartsWith("placed 1 hold with 2 keys"));
}

TEST_F(TtlctlHoldsTest, WithNoAcceptNothingIsAcceptedAndTheFileMayBeIncomplete) {
  EXPECT_EQ(Run({"apply", WriteFile(kExport), "--no-accept"}).code, ExitCode::kOk);
  EXPECT_EQ(Run({"apply", WriteFile(kLines), "--no-accept"}).code, ExitCode::kOk);
  EXPECT_THAT(Placed(), SizeIs(4));
  EXPECT_THAT(Accepted(), IsEmpty());
}

TEST_F(TtlctlHoldsTest, AFileThatMayLackHoldsChangesNothing) {
  const std::string kCases[] = {
      kLines,                                                             // cut off
      "",                                                                 // empty
      absl::StrCat(kLines, R"({"end":{"containers":["a"],"lines":3}})"),  // a line is missing
      absl::StrCat(kExport, kLines),                                      // cut off and joined
  };
  for (const std::string& file : kCases) {
    const Outcome outcome = Run({"apply", WriteFile(file)});
    EXPECT_EQ(outcome.code, ExitCode::kRefused) << file;
    EXPECT_THAT(outcome.err, EndsWith("; nothing was changed\n")) << file;
  }
  EXPECT_THAT(Placed(), IsEmpty());
  // Standard input cannot be read twice.
  const Outcome outcome = Run({"apply", "-"}, kLines);
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.err, HasSubstr("2 holds are placed, no container is accepted"));
  EXPECT_THAT(Accepted(), IsEmpty());
}

TEST_F(TtlctlHoldsTest, LinesThatAreNoHoldsAreRefused) {
  for (const char* line :
       {"x", "[]", "{\"container\":\"a\",\"until\":7}", "{\"hold\":\"a\"}",
        "{\"end\":{\"containers\":[1],\"lines\":0}}", "{\"end\":{\"containers\":[]}}",
        "{\"end\":{\"containers\":[],\"lines\":-1}}", "{\"end\":3}",
        "{\"end\":{\"containers\":[],\"lines\":0},\"container\":\"a\"}"}) {
    const Outcome outcome = Run({"apply", WriteFile(absl::StrCat("\n", line, "\n"))});
    EXPECT_EQ(outcome.code, ExitCode::kRefused) << line;
    EXPECT_THAT(outcome.err, HasSubstr(": line 2: ")) << line;
  }
}

TEST_F(TtlctlHoldsTest, AFailureAcceptsNothingAndSaysHowFarItCame) {
  sidecar_.Answer("PlaceHold", v1::PlaceHoldResponse());
  sidecar_.Fail("PlaceHold", {grpc::StatusCode::PERMISSION_DENIED, "not an admin"});
  const Outcome outcome = Run({"apply", WriteFile(kExport)});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(
      outcome.err,
      EndsWith(": line 2: not an admin; 1 holds are placed, no container is accepted; it can "
               "be run again\n"));
  EXPECT_THAT(Accepted(), IsEmpty());
}

TEST_F(TtlctlHoldsTest, AFailureAlsoCountsTheLinesThatWereRefused) {
  sidecar_.Fail("PlaceHold", {grpc::StatusCode::FAILED_PRECONDITION, "another scope"});
  sidecar_.Fail("PlaceHold", {grpc::StatusCode::PERMISSION_DENIED, "not an admin"});
  EXPECT_THAT(Run({"apply", WriteFile(kExport)}).err,
              HasSubstr("line 2: not an admin; 0 holds are placed, 1 lines were refused, no "));
}

TEST_F(TtlctlHoldsTest, ARefusedLineKeepsItsContainerFromBeingAcceptedAndNoOther) {
  const std::string file =
      absl::StrCat(kLines, R"({"container":"d","hold_id":"k","reason":"r","all_items":true})", "\n",
                   R"({"end":{"containers":["a","b","d"],"lines":3}})", "\n");
  for (const auto code :
       {grpc::StatusCode::FAILED_PRECONDITION, grpc::StatusCode::RESOURCE_EXHAUSTED,
        grpc::StatusCode::INVALID_ARGUMENT}) {
    FakeSidecar sidecar;
    sidecar.Fail("PlaceHold", {code, "refused\nfor good"});
    const Outcome outcome = RunAt(sidecar, {"apply", WriteFile(file)});
    EXPECT_EQ(outcome.code, ExitCode::kRefused);
    EXPECT_EQ(outcome.out,
              "placed 2 holds with 1 key: 0 not tracked, 0 already deleted\n"
              "accepted the holds of 2 containers\n"
              "refused line 1, hold all of container a: refused\\x0afor good\n");
    EXPECT_EQ(outcome.err,
              "ttlctl: lines of these containers were refused, so they are not accepted: a\n");
    EXPECT_THAT(AcceptedBy(sidecar), ElementsAre("b", "d"));
  }
}

TEST_F(TtlctlHoldsTest, RefusedLinesAreListedUpToALimit) {
  std::string file;
  for (int i = 0; i < 22; ++i) {
    sidecar_.Fail("PlaceHold", {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many holds"});
    absl::StrAppend(&file, R"({"container":"a","hold_id":"h)", i,
                    R"(","reason":"r","all_items":true})", "\n");
  }
  EXPECT_THAT(
      Run({"apply", "-", "--no-accept"}, file).out,
      AllOf(HasSubstr("line 20, hold h19"), Not(HasSubstr("line 21")), EndsWith("\nand 2 more\n")));
}

TEST_F(TtlctlHoldsTest, ApplyDoesNotEndAHoldEarlierThanItStands) {
  sidecar_.Answer("ListHolds", Proto<v1::ListHoldsResponse>(R"(
      holds { container: 'a' hold_id: 'later' until { seconds: 1900000000 } all_items: true }
      holds { container: 'a' hold_id: 'never' all_items: true }
      holds { container: 'a' hold_id: 'earlier' until { seconds: 1700000000 } all_items: true }
      holds { container: 'b' hold_id: 'other' all_items: true })"));
  const std::string file = R"(
{"container":"a","hold_id":"later","reason":"r","until":"2027-01-15T08:00:00Z","all_items":true}
{"container":"a","hold_id":"never","reason":"r","until":"2027-01-15T08:00:00Z","all_items":true}
{"container":"a","hold_id":"earlier","reason":"r","until":"2027-01-15T08:00:00Z","all_items":true}
{"container":"a","hold_id":"other","reason":"r","until":"2027-01-15T08:00:00Z","all_items":true}
{"container":"a","hold_id":"later","reason":"r","all_items":true}
{"container":"a","hold_id":"later","reason":"r","until":"2027-01-15T08:00:00Z","all_items":true}
)";
  const Outcome outcome = Run({"apply", "-", "--no-accept"}, file);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  std::vector<int64_t> ends;  // 0: none
  for (const auto& request : Placed()) ends.push_back(request.until().seconds());
  EXPECT_THAT(ends, ElementsAre(1'900'000'000, 0, kNow, kNow, 0, 0));
  EXPECT_THAT(outcome.out,
              EndsWith("kept the later end of hold later of container a: 2030-03-17T17:46:40Z\n"
                       "kept the later end of hold never of container a: released\n"));
  ASSERT_EQ(sidecar_.Calls("ListHolds"), 1);
  EXPECT_EQ(sidecar_.Requests<v1::ListHoldsRequest>("ListHolds")[0].container(), "");
}

TEST_F(TtlctlHoldsTest, ApplyInJsonListsWhatWasKeptAndWhatWasRefused) {
  sidecar_.Answer("ListHolds", Proto<v1::ListHoldsResponse>(
                                   "holds { container: 'a' hold_id: 'all' all_items: true }"));
  sidecar_.Answer("PlaceHold", v1::PlaceHoldResponse());
  sidecar_.Fail("PlaceHold", {grpc::StatusCode::FAILED_PRECONDITION, "another scope"});
  const std::string file = R"(
{"container":"a","hold_id":"all","reason":"r","until":"2027-01-15T08:00:00Z","all_items":true}
{"container":"b","hold_id":"k","reason":"r","all_items":true})";
  const json applied = json::parse(Run({"apply", "-", "--no-accept", "-o", "json"}, file).out);
  EXPECT_EQ(applied["kept_ends"], 1);
  EXPECT_EQ(applied["first_kept_ends"][0]["hold_id"], "all");
  EXPECT_EQ(applied["refused_lines"], 1);
  EXPECT_EQ(applied["first_refused_lines"][0]["line"], 3);
  EXPECT_EQ(applied["refused_containers"], json({"b"}));
}

TEST_F(TtlctlHoldsTest, ApplySendsNothingIfItCannotReadTheHoldsThatStand) {
  sidecar_.Fail("ListHolds", {grpc::StatusCode::PERMISSION_DENIED, "no reader"});
  EXPECT_EQ(Run({"apply", WriteFile(kExport)}).code, ExitCode::kRefused);
  EXPECT_THAT(Placed(), IsEmpty());
}

TEST_F(TtlctlHoldsTest, AFailureToAcceptSaysWhichContainer) {
  sidecar_.Answer("AcceptHolds", v1::AcceptHoldsResponse());
  sidecar_.Fail("AcceptHolds", kUnreachable);
  const Outcome outcome = Run({"apply", WriteFile(kExport)});
  EXPECT_EQ(outcome.code, ExitCode::kUnreachable);
  EXPECT_THAT(outcome.err, HasSubstr("container b may be not accepted; run it again"));
}

TEST_F(TtlctlHoldsTest, HoldsThatHaveEndedByTheSidecarsClockAreLeftOut) {
  const auto file = [](int64_t until) {
    return absl::StrCat(R"({"container":"a","hold_id":"k","reason":"r","until":")",
                        absl::FormatTime(absl::FromUnixSeconds(until), absl::UTCTimeZone()),
                        R"(","all_items":true})", "\n",
                        R"({"end":{"containers":["a"],"lines":1}})");
  };
  const grpc::Status kPast(grpc::StatusCode::INVALID_ARGUMENT, "until is in the past");
  sidecar_.Fail("PlaceHold", kPast);
  TellTime();
  const Outcome ended = Run({"apply", "-"}, file(kNow));
  EXPECT_EQ(ended.code, ExitCode::kOk) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("left out 1 that ended since the export\n"));
  EXPECT_THAT(Accepted(), ElementsAre("a"));

  sidecar_.Fail("PlaceHold", kPast);
  TellTime();
  const Outcome wrong = Run({"apply", "-"}, file(kNow + 1));
  EXPECT_EQ(wrong.code, ExitCode::kRefused);
  EXPECT_THAT(wrong.out, HasSubstr("refused line 1, hold k of container a: until is in the past"));
  EXPECT_THAT(Accepted(), SizeIs(1));
}

TEST_F(TtlctlHoldsTest, ContainersThatAreGoneAreLeftOutAndSaid) {
  sidecar_.Fail("PlaceHold", {grpc::StatusCode::NOT_FOUND, "no container a"});
  const Outcome outcome = Run({"apply", WriteFile(kExport)});
  EXPECT_EQ(outcome.code, ExitCode::kNotFound);
  EXPECT_EQ(outcome.err, "ttlctl: left out the holds of containers that do not exist: a\n");
  EXPECT_THAT(Placed(), SizeIs(1));
  // Not a, which may have been created since.
  EXPECT_THAT(Accepted(), ElementsAre("b"));
}

TEST_F(TtlctlHoldsTest, AContainerThatIsGoneAndHadNoHoldsIsNotAccepted) {
  sidecar_.Answer("AcceptHolds", v1::AcceptHoldsResponse());
  sidecar_.Fail("AcceptHolds", {grpc::StatusCode::NOT_FOUND, "no container b"});
  const Outcome outcome = Run({"apply", WriteFile(kExport)});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.out, EndsWith("accepted the holds of 1 container\n"));
}

TEST_F(TtlctlHoldsTest, WhatExportWritesApplySends) {
  sidecar_.Answer("ListHolds", ThreeHolds());
  v1::ListHeldKeysResponse keys;
  for (int i = 0; i < 256; ++i) {
    keys.add_keys()->set_id(std::string(1, static_cast<char>(i)));
    keys.mutable_keys(i)->set_partition_key(std::string(i, '\xff'));
  }
  sidecar_.Answer("ListHeldKeys", keys);
  const std::string file = Run({"export", "a"}).out;
  EXPECT_EQ(Run({"apply", "-"}, file).code, ExitCode::kOk);
  ASSERT_THAT(Placed(), SizeIs(3));
  ASSERT_EQ(Placed()[1].keys().keys_size(), 256);
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(Placed()[1].keys().keys(i).SerializeAsString(), keys.keys(i).SerializeAsString());
  }
  EXPECT_EQ(Placed()[1].until().seconds(), 1'900'000'000);
  EXPECT_EQ(Placed()[2].partition_key(), "p\001");
}

}  // namespace
}  // namespace ttl
