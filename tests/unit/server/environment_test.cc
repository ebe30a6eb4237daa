#include "service/server/config/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::set<std::string> kKnown = {"TTL_SIDECAR_STORE", "TTL_SIDECAR_LISTEN_SOCKET"};

TEST(EnvironmentTest, OnlyOurNamesThatNobodyKnowsAreTold) {
  const char* const environment[] = {"TTL_SIDECAR_STOER=a", "TTL_SIDECAR_STORE=b", "HOME=/",
                                     "TTL_SIDECAR_LISTEN=", "TTL_POSTGRES_X=1",    nullptr};
  EXPECT_THAT(UnknownVariables(environment, kKnown),
              ElementsAre("TTL_SIDECAR_LISTEN", "TTL_SIDECAR_STOER"));
}

TEST(EnvironmentTest, NamesOfTtlctlAreKnown) {
  const char* const environment[] = {"TTL_SIDECAR_ADDRESS=a",     "TTL_SIDECAR_CA_FILE=a",
                                     "TTL_SIDECAR_CERT_FILE=a",   "TTL_SIDECAR_KEY_FILE=a",
                                     "TTL_SIDECAR_SERVER_NAME=a", nullptr};
  EXPECT_THAT(UnknownVariables(environment, kKnown), IsEmpty());
}

// Of the services ttl-sidecar and ttl-sidecar-store.
TEST(EnvironmentTest, LinksToServicesOfKubernetesAreNotOurs) {
  const char* const environment[] = {"TTL_SIDECAR_SERVICE_HOST=10.0.0.1",
                                     "TTL_SIDECAR_SERVICE_PORT=7070",
                                     "TTL_SIDECAR_SERVICE_PORT_GRPC=7070",
                                     "TTL_SIDECAR_PORT=tcp://10.0.0.1:7070",
                                     "TTL_SIDECAR_PORT_7070_TCP=tcp://10.0.0.1:7070",
                                     "TTL_SIDECAR_PORT_7070_TCP_PROTO=tcp",
                                     "TTL_SIDECAR_PORT_7070_TCP_PORT=7070",
                                     "TTL_SIDECAR_PORT_7070_TCP_ADDR=10.0.0.1",
                                     "TTL_SIDECAR_STORE_SERVICE_HOST=10.0.0.2",
                                     "TTL_SIDECAR_STORE_SERVICE_PORT=7071",
                                     "TTL_SIDECAR_STORE_PORT=tcp://10.0.0.2:7071",
                                     "TTL_SIDECAR_STORE_PORT_7071_UDP_ADDR=10.0.0.2",
                                     nullptr};
  EXPECT_THAT(UnknownVariables(environment, kKnown), IsEmpty());
}

}  // namespace
}  // namespace ttl
