#include "client/postgres/sql/check/catalog_report.h"

#include "absl/strings/str_cat.h"

namespace ttl::postgres {

void CatalogReport::LeaveOut(const std::string& container, const std::string& problem,
                             const std::string& why) {
  std::string& all = left_out[container];
  absl::StrAppend(&all, all.empty() ? "" : "; ", why.empty() ? problem : why);
  problems.push_back(problem);
  std::erase_if(tables,
                [&](const TableDefinition& table) { return table.config.container == container; });
}

}  // namespace ttl::postgres
