// What the program shows of the first scan: a bar on a terminal, lines in a log.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/pseudo_terminal.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::MatchesRegex;
using testing::Not;
using testing::SizeIs;

// So many that reading them takes several times the time between two bars. One in the middle
// cannot be tracked, which the log says while there is a bar.
constexpr int kRows = 300'000;
// Reading them twice took more than a minute on two cores with eight busy loops.
constexpr absl::Duration kPatience = absl::Minutes(5);
constexpr char kTables[] = R"sql(
  CREATE TABLE sessions (id bigint PRIMARY KEY, updated_at timestamptz);
  CREATE TABLE carts (id bigint PRIMARY KEY, updated_at timestamptz);
)sql";

constexpr char kConfig[] = R"yaml(
tables:
  - { container: sessions, table: sessions, id: id, ts_column: updated_at }
  - { container: carts, table: carts, id: id, ts_column: updated_at }
)yaml";

constexpr char kSessionsDone[] = "first scan of sessions: 300000 rows, done after ";
constexpr char kCartsDone[] = "first scan of carts: 300000 rows, done after ";

class ScanProgressTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    database_.Sql(kTables);
    for (const char* table : {"sessions", "carts"}) {
      database_.Sql(absl::StrCat("INSERT INTO ", table, " SELECT i, CASE WHEN i <> ", kRows / 2,
                                 " THEN now() END FROM generate_series(1, ", kRows, ") AS i; ",
                                 "ANALYZE ", table));
    }
    ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
    TtlClientOptions options;
    options.address = sidecar_.address();
    TtlClient client(options);
    for (const char* id : {"sessions", "carts"}) {
      v1::Container container;
      container.set_id(id);
      ASSERT_TRUE(client.containers().Create(container).ok());
    }
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  }

  // `ttl-postgres run` in the window.
  void RunOn(const PseudoTerminal& terminal) {
    SubprocessOptions command;
    command.argv = {TTL_POSTGRES_BINARY, "run", "--config", dir_.File("postgres.yaml")};
    command.output_path = terminal.path();
    auto process = Subprocess::Start(command);
    ASSERT_TRUE(process.ok()) << process.status();
    process_ = *std::move(process);
  }

  static bool WaitUntilShown(const PseudoTerminal& terminal, absl::string_view text) {
    const bool is_there =
        WaitUntil([&] { return absl::StrContains(terminal.Output(), text); }, kPatience);
    EXPECT_TRUE(is_there) << terminal.Output();
    return is_there;
  }

  TempDir dir_;
  PostgresServer database_;
  SidecarProcess sidecar_{{dir_.path(), "sidecar", "", {}, {}}};
  TtlPostgresProcess postgres_{
      {dir_.path(), "postgres", database_.Conninfo(), sidecar_.address(), kConfig}};
  std::unique_ptr<Subprocess> process_;
};

// Everything that was drawn and then erased, which only bars are.
std::vector<std::string> Bars(const std::string& output) {
  std::vector<std::string> bars;
  for (absl::string_view drawn : absl::StrSplit(output, "\r\033[K")) {
    if (!drawn.empty() && !absl::StrContains(drawn, "\n")) bars.emplace_back(drawn);
  }
  return bars;
}

std::vector<std::string> With(absl::string_view text, const std::vector<std::string>& lines) {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    if (absl::StrContains(line, text)) found.push_back(line);
  }
  return found;
}

TEST_F(ScanProgressTest, TerminalHasABarInOneLineAndThenALineThatSaysItIsDone) {
  PseudoTerminal terminal(80);
  RunOn(terminal);
  ASSERT_TRUE(WaitUntilShown(terminal, kCartsDone));
  const std::vector<std::string> bars = Bars(terminal.Output());
  EXPECT_THAT(With("] sessions: ", bars), SizeIs(Ge(2)));
  EXPECT_THAT(With("] carts: ", bars), SizeIs(Ge(2)));
  EXPECT_THAT(bars,
              Each(MatchesRegex("\\[#*\\.+\\] (sessions|carts): [0-9]+ % of about 300000 rows.*")));

  const std::vector<std::string> lines = ShownLines(terminal.Output());
  EXPECT_THAT(With(kSessionsDone, lines), SizeIs(1));
  EXPECT_THAT(With(kCartsDone, lines), SizeIs(1));
  EXPECT_THAT(With("a row cannot be tracked", lines), Not(IsEmpty()));
  EXPECT_THAT(With(" of about ", lines), IsEmpty()) << "bars that were left";
}

TEST_F(ScanProgressTest, BarFitsTheWindowAlsoWhenThatHasChanged) {
  PseudoTerminal terminal(60);
  RunOn(terminal);
  ASSERT_TRUE(WaitUntilShown(terminal, "sessions: "));
  terminal.Resize(30);
  ASSERT_TRUE(WaitUntilShown(terminal, kCartsDone));
  std::vector<std::string> bars = Bars(terminal.Output());
  EXPECT_THAT(bars, Each(SizeIs(Le(59))));
  // How many were wide before the change depends on how soon we came to it; none is afterwards.
  bars.erase(bars.begin(), std::find_if(bars.begin(), bars.end(),
                                        [](const auto& bar) { return bar.size() <= 29; }));
  EXPECT_THAT(bars, AllOf(SizeIs(Ge(2)), Each(SizeIs(Le(29)))));
}

TEST_F(ScanProgressTest, WithoutATerminalLinesAreLoggedNowAndThen) {
  const absl::Time begin = absl::Now();
  ASSERT_TRUE(postgres_.Start(absl::Minutes(1)).ok()) << postgres_.Log();
  ASSERT_TRUE(WaitUntil([&] { return absl::StrContains(postgres_.Log(), kCartsDone); }, kPatience))
      << postgres_.Log();
  const std::string log = postgres_.Log();
  EXPECT_THAT(log, AllOf(Not(HasSubstr("\r")), Not(HasSubstr("\033"))));
  // One every ten seconds, besides the first and the last.
  const auto most = static_cast<size_t>(3 + (absl::Now() - begin) / absl::Seconds(10));
  const std::vector<std::string> lines = absl::StrSplit(log, '\n');
  for (const char* container : {"sessions", "carts"}) {
    const std::string scan = absl::StrCat("first scan of ", container, ": ");
    const std::vector<std::string> said = With(scan, lines);
    ASSERT_THAT(said, SizeIs(AllOf(Ge(2), Le(most))));
    EXPECT_THAT(said.front(), HasSubstr(" of about 300000 rows ("));
    EXPECT_THAT(said.back(), HasSubstr("300000 rows, done after "));
  }
}

}  // namespace
}  // namespace ttl
