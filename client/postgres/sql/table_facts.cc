#include "client/postgres/sql/table_facts.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/array_text.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/expiry_action.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

using Parameters = std::vector<Connection::Parameter>;

// Reads a column such as pg_class.relkind.
char Letter(const QueryResult& result, int row, int column) {
  const absl::string_view text = result.Text(row, column);
  return text.empty() ? '\0' : text[0];
}

std::string Name(const QueryResult& result, int row, int column) {
  return std::string(result.Text(row, column));
}

// Parameters: schema, table, publication, function of messages.
constexpr absl::string_view kRelation = R"(
  SELECT c.oid, c.relkind, c.relpersistence,
         n.nspname = 'information_schema' OR starts_with(n.nspname, 'pg_'),
         c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid),
         pg_get_userbyid(c.relowner), pg_has_role(c.relowner, 'USAGE'),
         has_schema_privilege(n.oid, 'USAGE'), has_table_privilege(c.oid, 'SELECT'),
         has_any_column_privilege(c.oid, 'UPDATE'), has_table_privilege(c.oid, 'DELETE'),
         c.relrowsecurity, c.relforcerowsecurity,
         NOT (r.rolsuper OR r.rolbypassrls)
           AND (c.relforcerowsecurity OR NOT pg_has_role(c.relowner, 'USAGE')),
         EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = c.oid
                 AND NOT starts_with(p.polname, 'ttl_postgres_')),
         EXISTS (SELECT FROM pg_publication AS p JOIN pg_publication_rel AS m
                 ON m.prpubid = p.oid WHERE p.pubname = $3 AND m.prrelid = c.oid),
         current_user, has_function_privilege(c.relowner, $4, 'EXECUTE')
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
       JOIN pg_roles AS r ON r.rolname = current_user
  WHERE n.nspname = $1 AND c.relname = $2)";

// Domains are resolved to their base type, whose modifier applies. Parameter: oid.
constexpr absl::string_view kColumns = R"(
  WITH RECURSIVE below(number, type, modifier) AS (
    SELECT attnum, atttypid, atttypmod FROM pg_attribute
    WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT b.number, t.typbasetype, t.typtypmod FROM below AS b JOIN pg_type AS t
      ON t.oid = b.type WHERE t.typtype = 'd')
  SELECT a.attname, a.attnum,
         CASE WHEN own.typnamespace = 'pg_catalog'::regnamespace
              THEN format_type(a.atttypid, a.atttypmod)
              ELSE format('%I.%I', n.nspname, own.typname) END,
         CASE WHEN base.typnamespace = 'pg_catalog'::regnamespace THEN base.typname END,
         base.typtype = 'e', b.modifier, a.attnotnull, a.attgenerated <> '',
         coalesce(coll.collisdeterministic, true),
         CASE WHEN base.typnamespace = 'pg_catalog'::regnamespace
              THEN format_type(base.oid, b.modifier)
              ELSE format('%I.%I', (SELECT nspname FROM pg_namespace WHERE oid = base.typnamespace),
                          base.typname) END
  FROM below AS b JOIN pg_type AS base ON base.oid = b.type AND base.typtype <> 'd'
       JOIN pg_attribute AS a ON a.attrelid = $1::oid AND a.attnum = b.number
       JOIN pg_type AS own ON own.oid = a.atttypid
       JOIN pg_namespace AS n ON n.oid = own.typnamespace
       LEFT JOIN pg_collation AS coll ON coll.oid = a.attcollation
  ORDER BY a.attnum)";

// One row per column of each index, grouped by index. An index provides the order of its columns if
// it compares as ORDER BY does, with all columns in the same direction. Parameter: oid.
constexpr absl::string_view kUniqueIndexes = R"(
  SELECT i.indexrelid, format('%I', c.relname), a.attname,
         bool_and(o.opcdefault AND i.indcollation[k] = a.attcollation
                  AND i.indoption[k] = i.indoption[0]) OVER (PARTITION BY i.indexrelid)
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
       JOIN pg_am AS m ON m.oid = c.relam AND m.amname = 'btree'
       CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS k
       JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k]
       JOIN pg_opclass AS o ON o.oid = i.indclass[k]
  WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indislive
        AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
  ORDER BY i.indnkeyatts, i.indisprimary DESC, i.indexrelid, k)";

// One row per column of each identity; one row for an identity without columns. Parameter: oid.
constexpr absl::string_view kIdentities = R"(
  WITH RECURSIVE tree AS (
    SELECT $1::oid AS oid
    UNION
    SELECT i.inhrelid FROM tree AS t JOIN pg_inherits AS i ON i.inhparent = t.oid
           JOIN pg_class AS c ON c.oid = i.inhrelid WHERE c.relispartition),
  holders AS (
    SELECT t.oid FROM tree AS t JOIN pg_class AS c ON c.oid = t.oid
    WHERE t.oid = $1::oid OR c.relkind <> 'p')
  SELECT c.oid, format('%I.%I', n.nspname, c.relname), c.oid = $1::oid AND c.relkind = 'p',
         c.relkind, c.relpersistence, c.relreplident, a.attname
  FROM holders AS h JOIN pg_class AS c ON c.oid = h.oid
       JOIN pg_namespace AS n ON n.oid = c.relnamespace
       LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisvalid AND i.indimmediate
            AND CASE c.relreplident WHEN 'd' THEN i.indisprimary
                                    WHEN 'i' THEN i.indisreplident ELSE false END
       LEFT JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS k ON true
       LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = i.indkey[k]
  ORDER BY c.oid, k)";

// Parameters: oid, publication.
constexpr absl::string_view kPublishedColumns = R"(
  SELECT a.attname FROM pg_publication AS p JOIN pg_publication_rel AS m ON m.prpubid = p.oid
       JOIN pg_attribute AS a ON a.attrelid = m.prrelid AND a.attnum = ANY (m.prattrs)
  WHERE m.prrelid = $1::oid AND p.pubname = $2 ORDER BY a.attnum)";

// Parameters: oid, names of tables whose keys do not count.
constexpr absl::string_view kRefusingKeys = R"(
  SELECT format('%I of %s', conname, conrelid::regclass) FROM pg_constraint
  WHERE confrelid = $1::oid AND contype = 'f' AND conparentid = 0 AND confdeltype IN ('a', 'r')
        AND NOT coalesce(conrelid = ANY (ARRAY(SELECT to_regclass(name) FROM unnest($2::text[]) AS
                                               name)), false)
  ORDER BY 1)";

// Parameter: oid.
constexpr absl::string_view kIndexes = R"(
  SELECT i.indexrelid, a.attname
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
       JOIN pg_am AS m ON m.oid = c.relam AND m.amname = 'btree'
       CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS k
       JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k]
  WHERE i.indrelid = $1::oid AND i.indisvalid AND i.indislive AND i.indpred IS NULL
        AND NOT EXISTS (SELECT FROM generate_series(0, k) AS before WHERE i.indkey[before] = 0)
  ORDER BY i.indexrelid, k)";

// Each delete searches for referring rows, whatever the action of the key. An index helps if its
// first columns are those of the key, in any order. Parameter: oid.
constexpr absl::string_view kUnindexedKeys = R"(
  SELECT format('%I of %s', k.conname, k.conrelid::regclass) FROM pg_constraint AS k
  WHERE k.confrelid = $1::oid AND k.contype = 'f' AND k.conparentid = 0 AND NOT EXISTS (
    SELECT FROM pg_index AS i WHERE i.indrelid = k.conrelid AND i.indisvalid
           AND i.indpred IS NULL
           AND (string_to_array(i.indkey::text, ' ')::int2[])[1:cardinality(k.conkey)] @> k.conkey)
  ORDER BY 1)";

// Excludes unique indexes that include all columns of the key: two rows equal in such an index have
// the same key. Parameters: oid, names of the key columns.
constexpr absl::string_view kUniquesBesideKey = R"(
  SELECT format('%I', c.relname) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
  WHERE i.indrelid = $1::oid AND i.indisready AND (i.indisexclusion OR i.indisunique AND NOT
    ARRAY(SELECT attnum FROM pg_attribute WHERE attrelid = $1::oid AND attname = ANY ($2::name[]))
    <@ (string_to_array(i.indkey::text, ' ')::int2[])[1:i.indnkeyatts])
  ORDER BY 1)";

// Parameter: oid.
constexpr absl::string_view kDeleteRules = R"(
  SELECT format('%I', rulename) FROM pg_rewrite
  WHERE ev_class = $1::oid AND ev_type = '4' AND ev_enabled <> 'D' ORDER BY 1)";

// Parameters: oid, mark.
constexpr absl::string_view kViewsOfOthers = R"(
  SELECT DISTINCT format('%I.%I', n.nspname, v.relname) FROM pg_depend AS d
       JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
       JOIN pg_class AS v ON v.oid = r.ev_class JOIN pg_namespace AS n ON n.oid = v.relnamespace
  WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::oid AND v.oid <> $1::oid
        AND NOT coalesce(starts_with(obj_description(v.oid, 'pg_class'), $2), false)
  ORDER BY 1)";

// Parameters: schema of the view, schema of the table.
constexpr absl::string_view kViewSchema = R"(
  SELECT coalesce((SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace
                   WHERE nspname = $1), has_database_privilege(current_database(), 'CREATE')),
         EXISTS (SELECT FROM pg_db_role_setting AS s, unnest(s.setconfig) AS setting,
                   regexp_split_to_array(translate(substr(setting, 13), '" ', ''), ',') AS path
                 WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database
                                             WHERE datname = current_database()))
                   AND starts_with(setting, 'search_path=')
                   AND array_position(path, $1) < coalesce(array_position(path, $2), 1000)),
         current_database())";

// Parameters: schema and name of the view, oid of the table, mark.
constexpr absl::string_view kView = R"(
  SELECT coalesce(c.relkind = 'v' AND starts_with(obj_description(c.oid, 'pg_class'), $4), false),
         missing.attname
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
       LEFT JOIN pg_attribute AS missing ON missing.attrelid = $3::oid AND missing.attnum > 0
            AND NOT missing.attisdropped AND NOT EXISTS (
              SELECT FROM pg_attribute AS v WHERE v.attrelid = c.oid AND v.attname = missing.attname)
  WHERE n.nspname = $1 AND c.relname = $2 AND c.oid <> $3::oid
  ORDER BY missing.attnum)";

class LookUp {
 public:
  explicit LookUp(Connection& connection) : connection_(connection) {}

  absl::StatusOr<std::optional<TableFacts>> Find(const TableLookup& lookup) {
    const bool found = FindRelation(lookup);
    if (found) {
      FindColumns();
      FindUniqueIndexes();
      FindIndexes();
      FindIdentities();
      FindPublishedColumns(lookup);
      FindRefusingKeys(lookup);
      FindUnindexedKeys();
      FindUniquesBesideKey(lookup);
      FindDeleteRules();
      FindView(lookup);
    }
    TTL_RETURN_IF_ERROR(status_);
    return found ? std::make_optional(std::move(facts_)) : std::nullopt;
  }

 private:
  // Returns no rows once a query has failed.
  QueryResult Ask(absl::string_view query, const Parameters& parameters) {
    if (!status_.ok()) return QueryResult(nullptr);
    absl::StatusOr<QueryResult> result = connection_.Query(std::string(query), parameters);
    if (result.ok()) return *std::move(result);
    status_ = result.status();
    return QueryResult(nullptr);
  }

  QueryResult AskOfTable(absl::string_view query) { return Ask(query, {absl::StrCat(facts_.oid)}); }

  bool FindRelation(const TableLookup& lookup) {
    const QueryResult r = Ask(
        kRelation, {lookup.schema, lookup.table, lookup.publication, std::string(kEmitFunction)});
    if (r.rows() == 0) return false;
    facts_.oid = static_cast<uint32_t>(r.Number(0, 0));
    facts_.kind = Letter(r, 0, 1);
    facts_.persistence = Letter(r, 0, 2);
    facts_.is_system = r.Bool(0, 3);
    facts_.has_children = r.Bool(0, 4);
    facts_.owner = Name(r, 0, 5);
    facts_.is_owner = r.Bool(0, 6);
    facts_.may_use_schema = r.Bool(0, 7);
    facts_.may_select = r.Bool(0, 8);
    facts_.may_update = r.Bool(0, 9);
    facts_.may_delete = r.Bool(0, 10);
    facts_.has_row_security = r.Bool(0, 11);
    facts_.forces_row_security = r.Bool(0, 12);
    facts_.is_bound_by_row_security = r.Bool(0, 13);
    facts_.has_policies_of_others = r.Bool(0, 14);
    facts_.is_published = r.Bool(0, 15);
    facts_.role = Name(r, 0, 16);
    facts_.owner_may_emit = r.Bool(0, 17);
    return true;
  }

  void FindColumns() {
    const QueryResult r = AskOfTable(kColumns);
    for (int row = 0; row < r.rows(); ++row) {
      ColumnFacts& column = facts_.columns.emplace_back();
      column.name = Name(r, row, 0);
      column.number = static_cast<int>(r.Number(row, 1));
      column.type = Name(r, row, 2);
      column.base = {Name(r, row, 3), r.Bool(row, 4), static_cast<int>(r.Number(row, 5))};
      column.not_null = r.Bool(row, 6);
      column.is_generated = r.Bool(row, 7);
      column.is_deterministic = r.Bool(row, 8);
      column.cast = Name(r, row, 9);
    }
  }

  void FindUniqueIndexes() {
    const QueryResult r = AskOfTable(kUniqueIndexes);
    for (int row = 0; row < r.rows(); ++row) {
      if (row == 0 || r.Text(row, 0) != r.Text(row - 1, 0)) {
        facts_.unique_indexes.push_back({Name(r, row, 1), {}, r.Bool(row, 3)});
      }
      facts_.unique_indexes.back().columns.push_back(Name(r, row, 2));
    }
  }

  void FindIndexes() {
    const QueryResult r = AskOfTable(kIndexes);
    for (int row = 0; row < r.rows(); ++row) {
      if (row == 0 || r.Text(row, 0) != r.Text(row - 1, 0)) facts_.indexes.emplace_back();
      facts_.indexes.back().push_back(Name(r, row, 1));
    }
  }

  void FindIdentities() {
    const QueryResult r = AskOfTable(kIdentities);
    for (int row = 0; row < r.rows(); ++row) {
      if (row == 0 || r.Text(row, 0) != r.Text(row - 1, 0)) {
        facts_.identities.push_back({Name(r, row, 1),
                                     r.Bool(row, 2),
                                     Letter(r, row, 3),
                                     Letter(r, row, 4),
                                     Letter(r, row, 5),
                                     {}});
      }
      if (!r.Value(row, 6).has_value()) continue;
      facts_.identities.back().columns.push_back(Name(r, row, 6));
    }
  }

  void FindPublishedColumns(const TableLookup& lookup) {
    const QueryResult columns =
        Ask(kPublishedColumns, {absl::StrCat(facts_.oid), lookup.publication});
    if (columns.rows() == 0) return;
    facts_.published_columns.emplace();
    for (int row = 0; row < columns.rows(); ++row) {
      facts_.published_columns->push_back(Name(columns, row, 0));
    }
  }

  void FindRefusingKeys(const TableLookup& lookup) {
    ArrayText group;
    for (const std::string& table : lookup.group) group.Add(table);
    const QueryResult keys = Ask(kRefusingKeys, {absl::StrCat(facts_.oid), group.Take()});
    for (int row = 0; row < keys.rows(); ++row) {
      facts_.refusing_keys.push_back(Name(keys, row, 0));
    }
  }

  void FindUnindexedKeys() {
    const QueryResult keys = AskOfTable(kUnindexedKeys);
    for (int row = 0; row < keys.rows(); ++row) {
      facts_.unindexed_keys.push_back(Name(keys, row, 0));
    }
  }

  void FindUniquesBesideKey(const TableLookup& lookup) {
    ArrayText key;
    for (const std::string& column : lookup.key) key.Add(column);
    const QueryResult uniques = Ask(kUniquesBesideKey, {absl::StrCat(facts_.oid), key.Take()});
    for (int row = 0; row < uniques.rows(); ++row) {
      facts_.uniques_beside_key.push_back(Name(uniques, row, 0));
    }
  }

  void FindDeleteRules() {
    const QueryResult rules = AskOfTable(kDeleteRules);
    for (int row = 0; row < rules.rows(); ++row) {
      facts_.delete_rules.push_back(Name(rules, row, 0));
    }
  }

  void FindView(const TableLookup& lookup) {
    if (lookup.live_view.empty()) return;
    const std::string oid = absl::StrCat(facts_.oid);
    const QueryResult others = Ask(kViewsOfOthers, {oid, lookup.mark});
    for (int row = 0; row < others.rows(); ++row) {
      facts_.views_of_others.push_back(Name(others, row, 0));
    }
    const QueryResult schema = Ask(kViewSchema, {lookup.view_schema, lookup.schema});
    facts_.may_make_view = schema.Bool(0, 0);
    facts_.is_view_schema_searched = schema.Bool(0, 1);
    facts_.database = Name(schema, 0, 2);
    const QueryResult r = Ask(kView, {lookup.view_schema, lookup.live_view, oid, lookup.mark});
    facts_.has_view = r.rows() > 0;
    facts_.is_view_ours = r.Bool(0, 0);
    for (int row = 0; row < r.rows(); ++row) {
      if (r.Value(row, 1).has_value()) facts_.view_lacks.push_back(Name(r, row, 1));
    }
  }

  Connection& connection_;
  absl::Status status_;
  TableFacts facts_;
};

}  // namespace

const ColumnFacts* TableFacts::Find(const std::string& column) const {
  for (const ColumnFacts& facts : columns) {
    if (facts.name == column) return &facts;
  }
  return nullptr;
}

absl::StatusOr<std::optional<TableFacts>> LookUpTable(Connection& connection,
                                                      const TableLookup& lookup) {
  return LookUp(connection).Find(lookup);
}

absl::StatusOr<bool> CanReadOwnTable(Connection& connection, const std::string& own_schema,
                                     const std::string& table) {
  const auto readable = connection.Query(
      "SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname "
      "= $1 AND c.relname = $2 AND has_schema_privilege(n.oid, 'USAGE') AND "
      "has_table_privilege(c.oid, 'SELECT')",
      {own_schema, table});
  TTL_RETURN_IF_ERROR(readable.status());
  return readable->rows() > 0;
}

absl::StatusOr<std::optional<std::string>> LookUpRenamed(Connection& connection,
                                                         const std::string& own_schema,
                                                         const std::string& schema,
                                                         const std::string& table) {
  TTL_ASSIGN_OR_RETURN(const auto readable, CanReadOwnTable(connection, own_schema, "renamed"));
  if (!readable) return std::nullopt;
  const auto name = connection.Query(
      absl::StrCat("SELECT c.relname FROM ", QuoteQualified(own_schema, "renamed"),
                   " AS r JOIN pg_class AS c ON c.oid = r.relation JOIN pg_namespace AS n ON n.oid "
                   "= c.relnamespace WHERE n.nspname = $1 AND r.name = $2"),
      {schema, table});
  TTL_RETURN_IF_ERROR(name.status());
  if (name->rows() == 0) return std::nullopt;
  return std::string(name->Text(0, 0));
}

}  // namespace ttl::postgres
