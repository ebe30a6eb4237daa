#include <gmock/gmock.h>
#include <grpc/grpc.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/server/sidecar.h"
#include "service/transport/tls_server_credentials.h"
#include "tests/testing/certificates.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kStoreName[] = "store.test";

// A sidecar in this process, and a store that asks for certificates.
class StoreTlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { grpc_init(); }

  StoreTlsTest() {
    Write("store-ca", stores_.cert());
    Write("sidecar-ca", sidecars_.cert());
    WriteIdentity("store", stores_.Issue({.dns = {kStoreName}}));
    WriteIdentity("sidecar", sidecars_.Issue({.common_name = "sidecar"}));
  }

  std::string File(const std::string& name) const { return directory_.File(name); }
  void Write(const std::string& name, const std::string& text) const {
    ReplaceFile(File(name), text);
  }
  void WriteIdentity(const std::string& name, const TestIdentity& identity) const {
    Write(absl::StrCat(name, ".key"), identity.key);
    Write(absl::StrCat(name, ".crt"), identity.cert);
  }

  void StartStore(std::shared_ptr<grpc::ServerCredentials> credentials) {
    store_ = std::make_unique<FakePrimaryStore>([] { return absl::Now(); }, std::move(credentials));
  }
  void StartTlsStore() {
    StartStore(TlsServerCredentials::Make({.cert_file = File("store.crt"),
                                           .key_file = File("store.key"),
                                           .ca_file = File("sidecar-ca")})
                   .value());
  }

  ServerConfig Config() const {
    ServerConfig config;
    config.listen_sockets = {{.path = File("sidecar.sock")}};
    config.data_dir = File("data");
    config.store = store_->address();
    config.store_tls = {.cert_file = File("sidecar.crt"),
                        .key_file = File("sidecar.key"),
                        .ca_file = File("store-ca")};
    config.store_tls_server_name = kStoreName;
    // What is due when it is first reported waits for so long.
    config.policy_grace = absl::ZeroDuration();
    return config;
  }

  void Start(const ServerConfig& config) {
    client_.reset();
    sidecar_.reset();
    absl::StatusOr<std::unique_ptr<Sidecar>> sidecar = Sidecar::Start(config);
    ASSERT_TRUE(sidecar.ok()) << sidecar.status();
    sidecar_ = *std::move(sidecar);
    TtlClientOptions options;
    options.address = absl::StrCat("unix:", config.listen_sockets[0].path);
    options.report_deadline = absl::Seconds(20);
    options.admin_deadline = absl::Seconds(20);
    client_ = std::make_unique<TtlClient>(std::move(options));
  }

  v1::StoreStatus Store() {
    return client_->operations().GetExpiryStatus().value().sidecar().store();
  }
  bool Reaches() {
    return WaitUntil([&] { return Store().reachable(); }, absl::Seconds(30));
  }

  // Whether an expired item goes.
  bool DeletesItem(const std::string& id) {
    v1::Container container;
    container.set_id("c");
    container.set_default_ttl(-1);
    client_->containers().Create(container).status().IgnoreError();
    v1::Item item;
    item.set_id(id);
    item.set_ts(absl::ToUnixSeconds(absl::Now()) - 100);
    item.set_ttl(10);
    ItemVersion version;
    version.times = {item.ts(), item.ttl()};
    store_->Put("c", {"", id}, version);
    if (!client_->TrackItem("c", item).ok()) return false;
    return WaitUntil([&] { return store_->CountAll() == 0; }, absl::Seconds(30));
  }

  const TempDir directory_;
  const TestCa stores_{"stores"};
  const TestCa sidecars_{"sidecars"};
  std::unique_ptr<FakePrimaryStore> store_;
  std::unique_ptr<Sidecar> sidecar_;
  std::unique_ptr<TtlClient> client_;
};

TEST_F(StoreTlsTest, DeletesGoOverMutualTls) {
  StartTlsStore();
  Start(Config());
  EXPECT_TRUE(Reaches()) << Store().DebugString();
  EXPECT_TRUE(DeletesItem("a"));
}

TEST_F(StoreTlsTest, AStoreThatIsNotTrustedOrDoesNotTrustGetsNothing) {
  const TestCa stranger("stores");
  Write("other-ca", stranger.cert());
  WriteIdentity("other", stranger.Issue({.common_name = "sidecar"}));
  TestNames expired = {.common_name = "sidecar"};
  expired.valid_from = -absl::Hours(2);
  expired.valid_until = -absl::Hours(1);
  WriteIdentity("expired", sidecars_.Issue(expired));
  StartTlsStore();
  const struct {
    const char* what;
    const char* ca;
    const char* identity;
    const char* name;
  } kCases[] = {
      {"another CA", "other-ca", "sidecar", kStoreName},
      {"another name", "store-ca", "sidecar", "other.test"},
      {"no certificate", "store-ca", "", kStoreName},
      {"a certificate of another CA", "store-ca", "other", kStoreName},
      {"an expired certificate", "store-ca", "expired", kStoreName},
      {"plain text", "", "", ""},
  };
  for (const auto& c : kCases) {
    ServerConfig config = Config();
    config.store_tls = {};
    if (*c.ca != '\0') config.store_tls.ca_file = File(c.ca);
    if (*c.identity != '\0') {
      config.store_tls.cert_file = File(absl::StrCat(c.identity, ".crt"));
      config.store_tls.key_file = File(absl::StrCat(c.identity, ".key"));
    }
    config.store_tls_server_name = c.name;
    Start(config);
    EXPECT_TRUE(WaitUntil([&] { return !Store().last_error().empty(); })) << c.what;
    EXPECT_FALSE(Store().reachable()) << c.what;
  }
  EXPECT_EQ(store_->InfoCalls(), 0);
}

TEST_F(StoreTlsTest, AStoreOfPlainTextIsNotCalledWithoutTls) {
  StartStore(nullptr);
  Start(Config());
  EXPECT_TRUE(WaitUntil([&] { return !Store().last_error().empty(); }));
  EXPECT_EQ(store_->InfoCalls(), 0);
}

TEST_F(StoreTlsTest, CertificatesOfBothSidesAreReplacedWhileTheyTalk) {
  StartTlsStore();
  Start(Config());
  ASSERT_TRUE(DeletesItem("a"));

  // From here on only what is new counts, in both directions.
  const TestCa new_stores("new stores");
  const TestCa new_sidecars("new sidecars");
  Write("store-ca", new_stores.cert());
  Write("sidecar-ca", new_sidecars.cert());
  WriteIdentity("store", new_stores.Issue({.dns = {kStoreName}}));
  // By halves: the key alone, and then its certificate.
  const TestIdentity identity = new_sidecars.Issue({.common_name = "sidecar"});
  Write("sidecar.key", identity.key);
  EXPECT_TRUE(DeletesItem("b"));  // on the connection that is there
  Write("sidecar.crt", identity.cert);

  store_->Restart();
  EXPECT_TRUE(DeletesItem("c")) << Store().DebugString();
}

TEST_F(StoreTlsTest, FilesThatCannotBeUsedAreNamedAtTheStart) {
  StartTlsStore();
  ServerConfig config = Config();
  config.store_tls.ca_file = File("nowhere");
  EXPECT_THAT(std::string(Sidecar::Start(config).status().message()),
              AllOf(HasSubstr(File("nowhere")), HasSubstr("cannot be read")));
  config = Config();
  config.store_tls.key_file = File("store.key");
  EXPECT_THAT(std::string(Sidecar::Start(config).status().message()),
              AllOf(HasSubstr(File("store.key")), HasSubstr(File("sidecar.crt"))));
}

}  // namespace
}  // namespace ttl
