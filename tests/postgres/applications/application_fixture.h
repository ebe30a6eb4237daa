#ifndef TTL_TESTS_POSTGRES_APPLICATIONS_APPLICATION_FIXTURE_H_
#define TTL_TESTS_POSTGRES_APPLICATIONS_APPLICATION_FIXTURE_H_

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/postgres/killed_adapter_fixture.h"
#include "tests/testing/process.h"
#include "ttl/container_client.h"

namespace ttl {

inline constexpr absl::Duration kPatience = absl::Minutes(5);

inline int CountIn(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

inline std::string Contents(const std::string& path) {
  std::stringstream contents;
  contents << std::ifstream(path).rdbuf();
  return contents.str();
}

inline v1::Container NewContainer(const char* id) {
  v1::Container container;
  container.set_id(id);
  return container;
}

// One application and its tables. Its programs are named by their arguments.
class ApplicationFixture : public KilledAdapterFixture {
 protected:
  using Arguments = std::vector<std::string>;

  // What an application prints now and then while it works.
  static constexpr char kProgress[] = "progress\n";

  explicit ApplicationFixture(const std::string& yaml) : KilledAdapterFixture(yaml) {}

  // The database, in which nothing depends on the time zone.
  void StartDatabase() {
    ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    database_.Sql("ALTER DATABASE postgres SET timezone = 'UTC'");
  }

  // TTL goes on only now, as an operator does it who has looked first.
  void SwitchOn(const char* id, int default_ttl) {
    v1::Container container = NewContainer(id);
    container.set_default_ttl(default_ttl);
    ASSERT_TRUE(Client().containers().Update(container, {"default_ttl"}).ok());
    const std::string in_sql =
        absl::StrCat("SELECT count(*) FROM ttl.policy WHERE default_ttl = ", default_ttl,
                     " AND container = '", id, "'");
    ASSERT_TRUE(WaitUntil([&] { return database_.Value(in_sql) == "1"; }, kPatience));
  }

  // Runs a program of the application to its end, which must be a good one.
  void Run(const Arguments& arguments) {
    Launch(arguments);
    Finish();
  }

  // The same, of one that may find faults; whether it ended well.
  bool Try(const Arguments& arguments) {
    Launch(arguments);
    const auto end = application_->Wait(kPatience);
    EXPECT_TRUE(end.ok()) << end.status() << Output();
    return end.ok() && end->Succeeded();
  }

  // The application works while each process is killed in turn. It must have nothing to complain
  // about.
  void WorkBesideKillsInTurn(const Arguments& arguments) {
    Launch(arguments);
    const std::vector<std::pair<const char*, std::function<absl::Status()>>> kills = {
        {"the sidecar",
         [&] {
           sidecar_.Kill();
           return sidecar_.Start(kPatience);
         }},
        {"ttl-postgres",
         [&] {
           postgres_.Kill();
           return postgres_.Start(kPatience);
         }},
        {"the server", [&] {
           database_.Kill();
           return database_.Start(kPatience);
         }}};
    AwaitProgress();
    for (const auto& [what, kill_and_start] : kills) {
      const absl::Status started = kill_and_start();
      EXPECT_TRUE(started.ok()) << what << ": " << started;
      AwaitProgress();
    }
    EXPECT_TRUE(postgres_.WaitReady(kPatience).ok()) << postgres_.Log();
    AwaitProgress();
    ASSERT_TRUE(application_->Signal(SIGTERM).ok()) << Output();
    Finish();
  }

  // Waits until no row is left of those that expired (`expired` is what follows FROM).
  void AwaitDeletes(const std::string& expired) {
    EXPECT_TRUE(
        WaitUntil([&] { return CountOf(expired) == "0"; }, kPatience, absl::Milliseconds(100)))
        << CountOf(expired) << " rows are left; " << postgres_.Log();
  }

  std::map<std::string, std::string> environment_ = {
      {"PGHOST", database_.path()}, {"PGUSER", "postgres"}, {"PGDATABASE", "postgres"}};

  // All that the application has printed.
  std::string Output() const { return Contents(output_); }

 private:
  void Launch(const Arguments& arguments) {
    auto started = Subprocess::Start({arguments, environment_, output_});
    ASSERT_TRUE(started.ok()) << started.status();
    application_ = *std::move(started);
  }

  void Finish() {
    const auto end = application_->Wait(kPatience);
    ASSERT_TRUE(end.ok()) << end.status() << Output();
    EXPECT_TRUE(end->Succeeded()) << Output();
  }

  // Until the application has worked for some more time.
  void AwaitProgress() {
    const int seen = CountIn(Output(), kProgress);
    EXPECT_TRUE(WaitUntil([&] { return CountIn(Output(), kProgress) > seen + 3; }, kPatience))
        << Output();
  }

  const std::string output_ = dir_.File("application.log");
  std::unique_ptr<Subprocess> application_;
};

}  // namespace ttl

#endif  // TTL_TESTS_POSTGRES_APPLICATIONS_APPLICATION_FIXTURE_H_
