#include "tests/postgres/capture_process_fixture.h"

namespace ttl::postgres {

void CaptureProcessFixture::SetUp() {
  const absl::Status database = server_.Start();
  ASSERT_TRUE(database.ok()) << database;
  const absl::Status sidecar = sidecar_.Start();
  ASSERT_TRUE(sidecar.ok()) << sidecar;
  capture_.emplace(server_, sidecar_.address());
}

}  // namespace ttl::postgres
