#ifndef TTL_TESTS_POSTGRES_CAPTURE_PROCESS_FIXTURE_H_
#define TTL_TESTS_POSTGRES_CAPTURE_PROCESS_FIXTURE_H_

#include <gtest/gtest.h>

#include <optional>

#include "tests/postgres/capture_for_test.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"

namespace ttl::postgres {

// Each test has a PostgreSQL and a sidecar of its own, which run and can be killed, and a
// capture, not begun, from one into the other.
class CaptureProcessFixture : public testing::Test {
 protected:
  explicit CaptureProcessFixture(const PostgresServerOptions& options = {}) : server_(options) {}
  void SetUp() override;

  const TempDir dir_;
  PostgresServer server_;
  SidecarProcess sidecar_{{dir_.path(), "sidecar", "", {}, {}}};
  std::optional<CaptureForTest> capture_;
};

}  // namespace ttl::postgres

#endif  // TTL_TESTS_POSTGRES_CAPTURE_PROCESS_FIXTURE_H_
