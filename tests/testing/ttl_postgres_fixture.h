#ifndef TTL_TESTS_TESTING_TTL_POSTGRES_FIXTURE_H_
#define TTL_TESTS_TESTING_TTL_POSTGRES_FIXTURE_H_

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "ttl/client.h"

namespace ttl {

// Each test has a PostgreSQL, a sidecar without a store and a ttl-postgres as processes of its
// own. They have not been started.
class TtlPostgresFixture : public testing::Test {
 protected:
  // Longest wait for a state.
  static constexpr absl::Duration kPatience = absl::Minutes(2);

  // `yaml` as in TtlPostgresProcessOptions. `user` is whom ttl-postgres connects as; `more` is
  // added to its connection string.
  explicit TtlPostgresFixture(const std::string& yaml, const std::string& user = "postgres",
                              const std::string& more = "",
                              const PostgresServerOptions& server = {});

  // Starts the database, with the result of `sql`, and the sidecar, with containers of the names
  // given. The test has failed if that fails.
  void StartServers(const std::string& sql, const std::vector<std::string>& containers);
  // Installs and starts ttl-postgres, which must become ready.
  void InstallAndStart();

  // How many items the sidecar tracks in a container, those that have expired too; -1: it does
  // not say.
  int Tracked(const std::string& container);
  void ExpectTracked(const std::string& container, int count);
  // Waits for a line of ttl-postgres.
  void ExpectLog(absl::string_view text);

  const TempDir dir_;
  PostgresServer database_;
  SidecarProcess sidecar_{{dir_.path(), "sidecar", "", {}, {}}};
  TtlPostgresProcess postgres_;
  std::optional<TtlClient> client_;  // from StartServers() on
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_TTL_POSTGRES_FIXTURE_H_
