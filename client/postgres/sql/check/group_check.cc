#include "client/postgres/sql/check/group_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_cascades.h"
#include "client/postgres/sql/install/group_objects.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

std::string NameOfTable(const TableDefinition& table) {
  return absl::StrCat("table ", table.config.schema, ".", table.config.table);
}

std::string OidsOf(const std::vector<const TableDefinition*>& tables) {
  return absl::StrCat("{",
                      absl::StrJoin(tables, ",",
                                    [](std::string* out, const TableDefinition* table) {
                                      absl::StrAppend(out, table->oid);
                                    }),
                      "}");
}

// Equal values must have the same type, so that they are the same group in each table.
void CompareColumns(const TableDefinition& group, CatalogReport& report) {
  for (const TableDefinition& member : group.members) {
    for (size_t i = 0; i < member.id.size(); ++i) {
      const ColumnDefinition& column = member.id[i];
      if (column.type == group.id[i].type) continue;
      report.problems.push_back(absl::StrCat(NameOfTable(member), ": column ", column.name,
                                             " of its group_by is of type ", column.type,
                                             "; must be ", group.id[i].type, ", as column ",
                                             group.id[i].name, " of ", NameOfTable(group)));
    }
  }
}

// The function that tells whether a group is live reads all tables with the rights of one owner.
absl::Status CompareOwners(Connection& connection, const TableDefinition& group,
                           CatalogReport& report) {
  TTL_ASSIGN_OR_RETURN(
      const auto others,
      connection.Query(
          "SELECT c.oid::regclass, pg_get_userbyid(c.relowner), pg_get_userbyid(f.relowner) FROM "
          "pg_class AS c, pg_class AS f WHERE f.oid = $1::oid AND c.oid = ANY ($2::oid[]) AND "
          "c.relowner <> f.relowner ORDER BY 1",
          {absl::StrCat(group.oid), OidsOf(TablesOf(group))}));
  for (int row = 0; row < others.rows(); ++row) {
    report.problems.push_back(absl::StrCat(
        "table ", others.Text(row, 0), " is owned by ", others.Text(row, 1), "; must be ",
        others.Text(row, 2), ", as ", NameOfTable(group), ", the first table of its group"));
  }
  return absl::OkStatus();
}

// Such a trigger may move a row to a group that its writer has not locked.
absl::Status FindTriggersAfterLocking(Connection& connection, const TableDefinition& group,
                                      CatalogReport& report) {
  for (const TableDefinition* table : TablesOf(group)) {
    TTL_ASSIGN_OR_RETURN(
        const auto after,
        connection.Query(absl::StrCat(TriggersAfterLocking(*table), " ORDER BY g.tgname")));
    for (int row = 0; row < after.rows(); ++row) {
      report.problems.push_back(absl::StrCat(
          NameOfTable(*table), ": trigger ", after.Text(row, 0),
          " fires after the one that locks the group of a written row, and may change the group; "
          "give it a name that sorts before zz_ttl_postgres_lock_group"));
    }
  }
  return absl::OkStatus();
}

// The delete of a group holds the lock of that group alone.
absl::Status FindCascades(Connection& connection, const TableDefinition& group,
                          CatalogReport& report) {
  TTL_ASSIGN_OR_RETURN(const auto keys, connection.Query(absl::StrCat(CascadesToOtherGroups(group),
                                                                      " ORDER BY 2, 1, 3")));
  for (int row = 0; row < keys.rows(); ++row) {
    report.problems.push_back(absl::StrCat(
        "table ", keys.Text(row, 1), ": foreign key ", keys.Text(row, 0), " to ", keys.Text(row, 2),
        " would delete or change rows of other groups when a group of ", NameOfTable(group),
        " is deleted; its columns and those that it refers to must have the columns "
        "of group_by, or it must be ON DELETE NO ACTION"));
  }
  return absl::OkStatus();
}

// Orders the tables so that each comes before those to which its foreign keys refer.
absl::Status OrderDeletes(Connection& connection, TableDefinition& group, CatalogReport& report) {
  const std::vector<const TableDefinition*> tables = TablesOf(group);
  TTL_ASSIGN_OR_RETURN(
      const auto keys,
      connection.Query(
          "SELECT DISTINCT conrelid, confrelid FROM pg_constraint WHERE contype = 'f' AND "
          "conrelid = ANY ($1::oid[]) AND confrelid = ANY ($1::oid[]) AND conrelid <> confrelid",
          {OidsOf(tables)}));
  std::set<std::pair<int64_t, int64_t>> refers;
  for (int row = 0; row < keys.rows(); ++row) {
    refers.emplace(keys.Number(row, 0), keys.Number(row, 1));
  }
  std::vector<size_t> left(tables.size());
  for (size_t i = 0; i < left.size(); ++i) left[i] = i;
  while (!left.empty()) {
    const auto next = std::find_if(left.begin(), left.end(), [&](size_t to) {
      return std::none_of(left.begin(), left.end(), [&](size_t from) {
        return refers.contains({tables[from]->oid, tables[to]->oid});
      });
    });
    if (next == left.end()) {
      report.problems.push_back(absl::StrCat(
          NameOfTable(group),
          ": the foreign keys among the tables of its group form a circle, in which no table can "
          "be deleted from first; drop one of them"));
      return absl::OkStatus();
    }
    group.delete_order.push_back(*next);
    left.erase(next);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status JoinGroup(Connection& connection, const TableConfig& config, CatalogReport& report) {
  std::vector<TableDefinition> tables = std::exchange(report.tables, {});
  if (!report.problems.empty() || tables.size() != config.members.size() + 1) {
    return absl::OkStatus();
  }
  TableDefinition group = std::move(tables.front());
  tables.erase(tables.begin());
  group.group = group.oid;
  group.members = std::move(tables);
  for (TableDefinition& member : group.members) member.group = group.oid;
  CompareColumns(group, report);
  TTL_RETURN_IF_ERROR(CompareOwners(connection, group, report));
  TTL_RETURN_IF_ERROR(FindTriggersAfterLocking(connection, group, report));
  TTL_RETURN_IF_ERROR(FindCascades(connection, group, report));
  TTL_RETURN_IF_ERROR(OrderDeletes(connection, group, report));
  if (report.problems.empty()) report.tables.push_back(std::move(group));
  return absl::OkStatus();
}

}  // namespace ttl::postgres
