#include "client/postgres/program/followed_tables.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/install/installation.h"

namespace ttl::postgres {
namespace {

constexpr char kCure[] = ". Run: ttl-postgres install";

std::string JoinReasons(const std::map<std::string, std::string>& left_out) {
  return absl::StrJoin(left_out, "; ", [](std::string* out, const auto& table) {
    absl::StrAppend(out, table.second);
  });
}

}  // namespace

absl::StatusOr<FollowedTables> FindFollowedTables(Connection& connection, const Config& config,
                                                  const CatalogReport& report) {
  absl::StatusOr<InstallationState> installed = ReadInstallation(connection, config, report.tables);
  if (!installed.ok()) return installed.status();
  if (!installed->problems.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "not installed for this configuration: ", absl::StrJoin(installed->problems, "; "), kCure));
  }
  FollowedTables followed;
  followed.left_out = report.left_out;
  for (const TableDefinition& table : report.tables) {
    const auto missing = installed->unpublished.find(table.config.container);
    if (missing == installed->unpublished.end()) {
      followed.tables.push_back(table);
    } else {
      followed.left_out[table.config.container] = absl::StrCat(missing->second, kCure);
    }
  }
  if (followed.tables.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no table can be followed: ", JoinReasons(followed.left_out)));
  }
  // Of a table that is left out there is more than the others need.
  std::vector<std::string> faults = std::move(installed->faults);
  if (followed.left_out.empty()) {
    faults.insert(faults.end(), installed->leftovers.begin(), installed->leftovers.end());
  }
  if (!faults.empty()) followed.fault = absl::StrCat(absl::StrJoin(faults, "; "), kCure);
  return followed;
}

}  // namespace ttl::postgres
