// Whoever sends what cannot be is named in the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/testing/captured_log.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::CheckVisibilityRequest RequestCarrying(const std::string& id, int64_t ts, int64_t ttl) {
  v1::CheckVisibilityRequest request;
  request.set_container("c");
  v1::VisibilityCheck& possible = *request.add_checks();
  possible.set_id("possible");
  possible.set_ts(kT);
  v1::VisibilityCheck& check = *request.add_checks();
  check.set_partition_key("p");
  check.set_id(id);
  check.set_ts(ts);
  check.set_ttl(ttl);
  return request;
}

TEST(ImpossibleCheckTest, ContainerItemAndClientAreLoggedOncePerMinute) {
  std::string text;
  {
    CapturedLog log;
    {
      RpcSidecar sidecar;
      ASSERT_TRUE(sidecar.Create(60).ok());
      for (const std::string id : {"item1", "item2", "item3"}) {
        ASSERT_TRUE(Call(sidecar.items(), &v1::ItemService::Stub::CheckVisibility,
                         RequestCarrying(id, kT * 1000, 5))
                        .ok());
      }
    }
    text = log.text();
  }
  EXPECT_THAT(text, HasSubstr("container=\"c\" partition_key=\"p\" id=\"item1\" "
                              "ts=1800000000000 ttl=5 expire_at=absent peer=\"unix:"));
  EXPECT_THAT(text, Not(HasSubstr("item2")));
}

TEST(ImpossibleCheckTest, MessagesOfStreamsAreLoggedToo) {
  std::string text;
  {
    CapturedLog log;
    {
      RpcSidecar sidecar;
      ASSERT_TRUE(sidecar.Create(60).ok());
      grpc::ClientContext context;
      const auto stream = sidecar.items().StreamCheckVisibility(&context);
      v1::StreamCheckVisibilityRequest request;
      *request.mutable_request() = RequestCarrying("streamed", kT, 0);
      ASSERT_TRUE(stream->Write(request));
      v1::StreamCheckVisibilityResponse response;
      ASSERT_TRUE(stream->Read(&response));
      EXPECT_TRUE(response.has_response());
      stream->WritesDone();
      EXPECT_TRUE(stream->Finish().ok());
    }
    text = log.text();
  }
  EXPECT_THAT(text, HasSubstr("id=\"streamed\" ts=1800000000 ttl=0 expire_at=absent peer="));
}

}  // namespace
}  // namespace ttl
