#ifndef TTL_TESTS_POSTGRES_CAPTURE_FIXTURE_H_
#define TTL_TESTS_POSTGRES_CAPTURE_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/postgres/capture_for_test.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl::postgres {

// Each test has a database and a capture, not begun, into a sidecar in this process. The
// PostgreSQL is that of the whole suite.
class CaptureFixture : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  QueryResult Sql(const std::string& statements) { return capture_.Sql(statements); }
  std::string Value(const std::string& query) { return capture_.Value(query); }
  std::vector<std::string> Tracked(const std::string& container = "sessions") {
    return capture_.Tracked(container);
  }
  // What is tracked is what is in the table, once the capture has caught up.
  void ExpectSame(const std::string& rows = kSessionRows,
                  const std::string& container = "sessions");

  static PostgresServer* server_;
  RpcSidecar sidecar_;
  CaptureForTest capture_{*server_, sidecar_.address()};
};

}  // namespace ttl::postgres

#endif  // TTL_TESTS_POSTGRES_CAPTURE_FIXTURE_H_
