#include "client/postgres/sql/group_cascades.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/group.h"

namespace ttl::postgres {

std::string CascadesToOtherGroups(const TableDefinition& group) {
  std::vector<std::string> columns;  // table, place in group_by, name
  for (const TableDefinition* table : TablesOf(group)) {
    for (size_t i = 0; i < table->id.size(); ++i) {
      columns.push_back(
          absl::StrCat("(", table->oid, "::oid, ", i, ", ", QuoteText(table->id[i].name), ")"));
    }
  }
  // `changed` has what a delete of a group deletes or updates, in tables outside of the group too.
  return absl::Substitute(
      R"(WITH RECURSIVE own(relation, place, number) AS (
  SELECT v.relation, v.place, a.attnum
  FROM (VALUES $0) AS v(relation, place, name) JOIN pg_catalog.pg_attribute AS a
    ON a.attrelid = v.relation AND a.attname = v.name),
keys AS (
  SELECT f.conname, f.conrelid, f.confrelid, f.confdeltype, f.confupdtype,
         (SELECT count(*) FROM unnest(f.conkey, f.confkey) AS u(here, there)
            JOIN own AS h ON h.relation = f.conrelid AND h.number = u.here
            JOIN own AS t ON t.relation = f.confrelid AND t.number = u.there
          WHERE h.place = t.place) = $1 AS is_within_group
  FROM pg_catalog.pg_constraint AS f WHERE f.contype = 'f'),
changed(relation, is_deleted) AS (
  SELECT DISTINCT relation, true FROM own
  UNION
  SELECT k.conrelid, c.is_deleted AND k.confdeltype = 'c'
  FROM changed AS c JOIN keys AS k ON k.confrelid = c.relation
    AND CASE WHEN c.is_deleted THEN k.confdeltype ELSE k.confupdtype END IN ('c', 'n', 'd'))
SELECT DISTINCT k.conname::text, k.conrelid::regclass::text, k.confrelid::regclass::text
FROM changed AS c JOIN keys AS k ON k.confrelid = c.relation
  AND CASE WHEN c.is_deleted THEN k.confdeltype ELSE k.confupdtype END IN ('c', 'n', 'd')
WHERE k.conrelid IN (SELECT relation FROM own) AND NOT k.is_within_group)",
      absl::StrJoin(columns, ", "), group.id.size());
}

std::string KeysWithinGroup(const TableDefinition& group) {
  const std::string oids =
      absl::StrJoin(TablesOf(group), ", ", [](std::string* out, const TableDefinition* table) {
        absl::StrAppend(out, table->oid, "::oid");
      });
  return absl::Substitute(
      R"(SELECT f.confrelid::bigint, format('NOT EXISTS (SELECT FROM ONLY %s AS r WHERE %s)',
    f.conrelid::regclass, (
      SELECT string_agg(format('t.%I OPERATOR(%I.%s) r.%I', p.attname, n.nspname, o.oprname,
          c.attname), ' AND ')
      FROM unnest(f.confkey, f.conkey, f.conpfeqop) AS u(there, here, equal)
        JOIN pg_catalog.pg_attribute AS p ON p.attrelid = f.confrelid AND p.attnum = u.there
        JOIN pg_catalog.pg_attribute AS c ON c.attrelid = f.conrelid AND c.attnum = u.here
        JOIN pg_catalog.pg_operator AS o ON o.oid = u.equal
        JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace)),
  f.confrelid = f.conrelid
FROM pg_catalog.pg_constraint AS f
WHERE f.contype = 'f' AND f.conrelid IN ($0) AND f.confrelid IN ($0))",
      oids);
}

}  // namespace ttl::postgres
