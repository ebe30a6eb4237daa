// The configuration of ttl-postgres (YAML): what is accepted is whole and can be, and every
// problem of what is not has its line.

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/postgres/config/config.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

void RequireRefusal(const absl::Status& status) {
  Require(absl::IsInvalidArgument(status), "refused as the file's fault");
  const std::vector<std::string> problems = absl::StrSplit(status.message(), '\n');
  for (const std::string& problem : problems) {
    Require(absl::StartsWith(problem, "line "), "a problem with its line");
  }
}

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= 63 && name.find('\0') == std::string::npos;
}

void RequirePossible(const postgres::TableConfig& table) {
  Require(!table.container.empty() && table.container.size() <= 255, "a container");
  Require(IsName(table.schema) && IsName(table.table), "a table");
  Require(!table.id.empty(), "an id");
  std::set<std::string> columns;
  for (const auto* names : {&table.partition_key, &table.id}) {
    for (const std::string& name : *names) {
      Require(IsName(name) && columns.insert(name).second, "key columns that differ");
    }
  }
  for (const auto& column : {table.ts_column, table.ttl_column, table.size_column}) {
    Require(!column.has_value() || IsName(*column), "a column");
  }
}

void RequirePossible(const postgres::Config& config) {
  Require(!config.database.empty(), "a database");
  Require(IsName(config.schema) && IsName(config.slot) && IsName(config.publication), "names");
  Require(config.lock_timeout > absl::ZeroDuration(), "a limit of waiting for locks");
  Require(config.statement_timeout >= config.lock_timeout, "a limit of statements");
  Require(config.max_slot_bytes >= 0 && config.max_active_backends >= 0, "limits");
  Require(!config.tables.empty(), "a table at least");
  std::set<std::string> containers;
  std::set<std::string> tables;
  for (const postgres::TableConfig& table : config.tables) {
    RequirePossible(table);
    Require(table.schema != config.schema, "a schema of our own");
    Require(containers.insert(table.container).second, "containers that differ");
    Require(tables.insert(absl::StrCat(table.schema, ".", table.table)).second,
            "tables that differ");
  }
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = ttl::postgres::ParseConfig({reinterpret_cast<const char*>(data), size});
  if (config.ok()) {
    ttl::RequirePossible(*config);
  } else {
    ttl::RequireRefusal(config.status());
  }
  return 0;
}
