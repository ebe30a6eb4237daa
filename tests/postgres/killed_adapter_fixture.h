#ifndef TTL_TESTS_POSTGRES_KILLED_ADAPTER_FIXTURE_H_
#define TTL_TESTS_POSTGRES_KILLED_ADAPTER_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {

// An application that writes to a PostgreSQL while ttl-postgres is killed at random moments. Each
// test has its own server, sidecar and ttl-postgres, as processes.
class KilledAdapterFixture : public testing::Test {
 protected:
  // Longest time from a start of ttl-postgres to its kill.
  static constexpr absl::Duration kLongestLife = absl::Milliseconds(1200);

  // `yaml` is as in TtlPostgresProcessOptions.
  explicit KilledAdapterFixture(const std::string& yaml)
      : postgres_options_{dir_.path(), "postgres", database_.Conninfo(),
                          absl::StrCat("unix:", dir_.File("sidecar.sock")), yaml} {}

  // Starts all, with the result of `sql` and with `container`; `check` and `install` must succeed.
  // The test has failed if anything fails.
  void StartAll(const char* sql, const v1::Container& container) {
    ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    database_.Sql(sql);
    StartTtl({container});
  }

  // The same beside a database that runs already.
  void StartTtl(const std::vector<v1::Container>& containers) {
    ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
    for (const v1::Container& container : containers) {
      ASSERT_TRUE(Client().containers().Create(container).ok());
    }
    ASSERT_TRUE(postgres_.RunCommand({"check"}).ok()) << postgres_.Log();
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
    ASSERT_TRUE(postgres_.Start(absl::Minutes(2)).ok()) << postgres_.Log();
  }

  // Runs `statements` in turn, with a pause after each, while ttl-postgres is killed `kills` times;
  // then waits until it is ready.
  void WorkBesideKills(absl::Span<const char* const> statements, absl::Duration pause, int kills) {
    std::atomic<bool> stop = false;
    std::thread application([&] { Work(statements, pause, stop); });
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> life(0, absl::ToDoubleSeconds(kLongestLife));
    for (int i = 0; i < kills && !HasFatalFailure(); ++i) {
      absl::SleepFor(absl::Seconds(life(random)));
      postgres_.Kill();
      EXPECT_TRUE(postgres_.Launch().ok()) << postgres_.Log();
    }
    EXPECT_TRUE(postgres_.WaitReady(absl::Minutes(5)).ok()) << postgres_.Log();
    stop = true;
    application.join();
  }

  TtlClient Client() const {
    TtlClientOptions options;
    options.address = sidecar_.address();
    return TtlClient(options);
  }

  // `rows` is what may follow FROM.
  std::string CountOf(absl::string_view rows) {
    return database_.Value(absl::StrCat("SELECT count(*) FROM ", rows));
  }

  TempDir dir_;
  PostgresServer database_;
  const TtlPostgresProcessOptions postgres_options_;
  SidecarProcess sidecar_{
      {dir_.path(), "sidecar", TtlPostgresProcess::AddressOf(postgres_options_), {}, {}}};
  TtlPostgresProcess postgres_{postgres_options_};

 private:
  void Work(absl::Span<const char* const> statements, absl::Duration pause,
            const std::atomic<bool>& stop) {
    const auto connection = postgres::Connection::Open(database_.Conninfo(), "application");
    ASSERT_TRUE(connection.ok());
    for (size_t i = 0; !stop; ++i) {
      const auto done = (*connection)->Execute(statements[i % statements.size()]);
      EXPECT_TRUE(done.ok()) << done.status();
      absl::SleepFor(pause);
    }
  }
};

}  // namespace ttl

#endif  // TTL_TESTS_POSTGRES_KILLED_ADAPTER_FIXTURE_H_
