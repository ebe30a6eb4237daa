#include "service/server/config/access_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(AccessFileTest, EachKindOfNameHasItsRoles) {
  const absl::StatusOr<IdentityRoles> roles = ParseAccess("a.yaml",
                                                          "identities:\n"
                                                          "  - uri: spiffe://a/b\n"
                                                          "    roles: [store, reader]\n"
                                                          "  - roles: [admin]\n"
                                                          "    dns: a.example\n"
                                                          "  - cn: a.example\n"
                                                          "    roles: [reader]\n");
  ASSERT_TRUE(roles.ok()) << roles.status();
  EXPECT_THAT(roles->uri,
              UnorderedElementsAre(Pair("spiffe://a/b", Roles{Role::kStore, Role::kReader})));
  EXPECT_THAT(roles->dns, UnorderedElementsAre(Pair("a.example", Roles{Role::kAdmin})));
  EXPECT_THAT(roles->common_name, UnorderedElementsAre(Pair("a.example", Roles{Role::kReader})));
}

TEST(AccessFileTest, TheExampleIsRead) {
  const absl::StatusOr<IdentityRoles> roles = ReadAccessFile(EXAMPLE_DIR "/access.example.yaml");
  ASSERT_TRUE(roles.ok()) << roles.status();
  EXPECT_EQ(roles->uri.size(), 1U);
  EXPECT_EQ(roles->dns.size(), 1U);
  EXPECT_EQ(roles->common_name.at("shipping"), (Roles{Role::kReader, Role::kConsumer}));
}

TEST(AccessFileTest, WhatIsWrongIsNamedWithItsLine) {
  const struct {
    const char* text;
    const char* line;
    const char* named;
  } kCases[] = {
      {"", "a.yaml:1", "identities"},
      {"[]", "a.yaml:1", "identities"},
      {"identities: 1\n", "a.yaml:1", "identities"},
      {"identities: []\nsockets: []\n", "a.yaml:2", "sockets"},
      {"identities:\n  - operator\n", "a.yaml:2", "uri, dns and cn"},
      {"identities:\n  - cn: a\n", "a.yaml:2", "roles"},
      {"identities:\n  - roles: [admin]\n", "a.yaml:2", "uri, dns and cn"},
      {"identities:\n  - cn: a\n    dns: a\n    roles: [admin]\n", "a.yaml:3", "dns"},
      {"identities:\n  - cn: ''\n    roles: [admin]\n", "a.yaml:2", "cn"},
      {"identities:\n  - cn: [a]\n    roles: [admin]\n", "a.yaml:2", "cn"},
      {"identities:\n  - cn: a\n    roles: admin\n", "a.yaml:3", "a list"},
      {"identities:\n  - cn: a\n    roles: []\n", "a.yaml:3", "a list"},
      {"identities:\n  - cn: a\n    roles: [Admin]\n", "a.yaml:3", "\"Admin\""},
      {"identities:\n  - cn: a\n    role: [admin]\n", "a.yaml:3", "\"role\""},
      {"identities:\n  - cn: a\n    roles: [admin]\n    roles: [store]\n", "a.yaml:4", "roles"},
      {"identities:\n  - cn: a\n    roles: [admin]\n  - cn: a\n    roles: [store]\n", "a.yaml:4",
       "\"a\" is given twice"},
      {"identities: [\n", "a.yaml:", "not YAML"},
      {"identities: []\n---\nidentities: []\n", "a.yaml:2", "second document"},
      // yaml-cpp would make documents of it without end.
      {",", "a.yaml:1", ""},
  };
  for (const auto& c : kCases) {
    const absl::Status status = ParseAccess("a.yaml", c.text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(c.line), HasSubstr(c.named)))
        << c.text;
  }
}

}  // namespace
}  // namespace ttl
