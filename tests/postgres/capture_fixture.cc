#include "tests/postgres/capture_fixture.h"

namespace ttl::postgres {

PostgresServer* CaptureFixture::server_ = nullptr;

void CaptureFixture::SetUpTestSuite() {
  server_ = new PostgresServer();
  const absl::Status status = server_->Start();
  ASSERT_TRUE(status.ok()) << status;
}

void CaptureFixture::TearDownTestSuite() {
  delete server_;
  server_ = nullptr;
}

void CaptureFixture::ExpectSame(const std::string& rows, const std::string& container) {
  if (!capture_.CatchUp()) return;
  EXPECT_EQ(Tracked(container), capture_.Rows(rows));
}

}  // namespace ttl::postgres
