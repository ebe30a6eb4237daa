// The ttl in lines of an import, as people write it. tests/field_reports.md explains the numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/import_line.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string RefusalOf(const std::string& fields) {
  const auto item = ParseImportLine(absl::StrCat(R"({"id":"a","ts":1000,)", fields, "}"));
  EXPECT_TRUE(absl::IsInvalidArgument(item.status())) << fields << ": " << item.status();
  return std::string(item.status().message());
}

// Field report B06, in reverse: exports write an absent ttl as null.
TEST(ImportTtlTest, NullIsAnAbsentTtlAndNoKey) {
  EXPECT_FALSE(ParseImportLine(R"({"id":"a","ts":1000,"ttl":null})")->has_ttl());
  EXPECT_THAT(RefusalOf(R"("ttl":null,"ttl":5)"), HasSubstr("\"ttl\" is given twice"));
  EXPECT_THAT(RefusalOf(R"("etag":null)"), HasSubstr("\"etag\" is null: it must be a text"));
  EXPECT_THAT(ParseImportLine(R"({"id":null,"ts":1000})").status().message(),
              HasSubstr("\"id\" is null"));
  EXPECT_FALSE(ParseImportLine(R"({"id":"a","ts":1000})")->has_ttl());
}

// Field report B09.
TEST(ImportTtlTest, ATtlThatIsNotANumberIsRefused) {
  for (const std::string ttl : {R"("3600")", "true", "{}", "[60]", "60.0", R"("")"}) {
    EXPECT_THAT(RefusalOf(absl::StrCat("\"ttl\":", ttl)),
                AllOf(HasSubstr("\"ttl\" is"), HasSubstr("it must be -1 or")))
        << ttl;
  }
}

// In an import only the fields we know may stand, so one that only looks like ttl is
// refused before anything is sent; so is a ttl that is given twice.
// Field report B14.
TEST(ImportTtlTest, MisspelledTtlFieldsAreRefused) {
  for (const std::string name : {"TTL", "Ttl", "TimeToLive", "meta"}) {
    const std::string value = name == "meta" ? R"({"ttl":1})" : "1";
    EXPECT_THAT(RefusalOf(absl::StrCat("\"", name, "\":", value)),
                HasSubstr(absl::StrCat("unknown field \"", name, "\"")));
  }
  EXPECT_THAT(RefusalOf(R"("ttl":1,"ttl":-1)"), HasSubstr("\"ttl\" is given twice"));
  EXPECT_THAT(RefusalOf(R"("ttl":-1,"ttl":1)"), HasSubstr("\"ttl\" is given twice"));
}

}  // namespace
}  // namespace ttl
