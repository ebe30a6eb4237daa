#include "client/postgres/program/followed_tables.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/install/installation.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr char kCure[] = ". Run: ttl-postgres install";

// Returns why a table is left out; empty: it is not. Outdated objects leave it out, because a row
// that SQL shows as live must not be deleted.
std::string WhyLeftOut(const InstallationState& installed, const std::string& container) {
  for (const auto* wrong : {&installed.unpublished, &installed.outdated}) {
    const auto found = wrong->find(container);
    if (found != wrong->end()) return absl::StrCat(found->second, kCure);
  }
  return "";
}

}  // namespace

absl::StatusOr<FollowedTables> FindFollowedTables(Connection& connection, const Config& config,
                                                  const CatalogReport& report) {
  TTL_ASSIGN_OR_RETURN(InstallationState installed,
                       ReadInstallation(connection, config, report.tables));
  if (!installed.problems.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "not installed for this configuration: ", absl::StrJoin(installed.problems, "; "), kCure));
  }
  FollowedTables followed;
  followed.left_out = report.left_out;
  for (const TableDefinition& table : report.tables) {
    std::string why = WhyLeftOut(installed, table.config.container);
    if (why.empty()) {
      followed.tables.push_back(table);
    } else {
      followed.left_out[table.config.container] = std::move(why);
    }
  }
  std::vector<std::string> faults = std::move(installed.faults);
  faults.insert(faults.end(), installed.leftovers.begin(), installed.leftovers.end());
  // A left-out table may be published, also under another name, so an entry may only seem unneeded.
  if (followed.left_out.empty()) {
    faults.insert(faults.end(), installed.unneeded.begin(), installed.unneeded.end());
  }
  if (!faults.empty()) followed.fault = absl::StrCat(absl::StrJoin(faults, "; "), kCure);
  return followed;
}

}  // namespace ttl::postgres
