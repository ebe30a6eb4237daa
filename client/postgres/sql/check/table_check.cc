#include "client/postgres/sql/check/table_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/civil_time.h"
#include "client/postgres/sql/archive_fit.h"
#include "client/postgres/sql/check/group_check.h"
#include "client/postgres/sql/check/where_check.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/connect/sql_error.h"
#include "client/postgres/sql/end_column.h"
#include "client/postgres/sql/expiry_action.h"
#include "client/postgres/sql/install/installed_objects.h"
#include "client/postgres/sql/key_type.h"
#include "client/postgres/sql/table_facts.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

using Names = std::vector<std::string>;

constexpr size_t kMaxPartitionKeyBytes = 2048;
constexpr size_t kMaxIdBytes = 1023;
constexpr size_t kMaxNamed = 5;  // names listed in a message
constexpr absl::string_view kInvalidValue = "22023";

std::string QuotedList(const Names& names) {
  return absl::StrJoin(names, ", ", [](std::string* out, const std::string& name) {
    absl::StrAppend(out, QuoteName(name));
  });
}

// "a, b and 3 more".
std::string SomeOf(const Names& names) {
  const size_t named = std::min(names.size(), kMaxNamed);
  const std::string list = absl::StrJoin(names.begin(), names.begin() + named, ", ");
  return named == names.size() ? list : absl::StrCat(list, " and ", names.size() - named, " more");
}

bool Contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool ContainsAll(const Names& names, const Names& others) {
  return std::all_of(others.begin(), others.end(),
                     [&names](const std::string& other) { return Contains(names, other); });
}

bool IsInteger(const BaseType& type, bool small_too) {
  return type.name == "int4" || type.name == "int8" || (small_too && type.name == "int2");
}

// Maximum length of a key of these columns as text, in bytes; absent: unlimited.
std::optional<size_t> MaxKeyBytes(const std::vector<const ColumnFacts*>& columns) {
  // Several columns are joined with escapes, which may double their length.
  const size_t factor = columns.size() > 1 ? 2 : 1;
  size_t bytes = columns.empty() ? 0 : columns.size() - 1;
  for (const ColumnFacts* column : columns) {
    const std::optional<size_t> most = MaxTextBytes(column->base);
    if (!most.has_value()) return std::nullopt;
    bytes += factor * *most;
  }
  return bytes;
}

class TableCheck {
 public:
  // `name` is the current name of the table; `own_schema` as in TableDefinition.
  TableCheck(const TableConfig& config, const std::string& name, const std::string& own_schema,
             const TableFacts& facts, CatalogReport& report)
      : config_(config),
        facts_(facts),
        report_(report),
        plain_(absl::StrCat(config.schema, ".", config.table)),
        sql_(QuoteQualified(config.schema, name)),
        key_(config.partition_key) {
    key_.insert(key_.end(), config.id.begin(), config.id.end());
    table_.config = config;
    table_.config.table = name;
    table_.configured_table = config.table;
    table_.own_schema = own_schema;
    table_.oid = facts.oid;
    table_.is_partitioned = facts.kind == 'p';
  }

  void Run() {
    if (!CheckKind()) return;
    table_.partition_key =
        KeyColumns(config_.partition_key, "partition key", kMaxPartitionKeyBytes);
    table_.id = KeyColumns(config_.id, "id", kMaxIdBytes);
    CheckTs();
    table_.ttl = Integer(config_.ttl_column, "ttl");
    CheckExpires();
    table_.size = Integer(config_.size_column, "size");
    CheckOnExpiry();
    if (!facts_.unfit_where.empty()) Problem(facts_.unfit_where);
    config_.is_group ? CheckGroup() : CheckUniqueIndex();
    CheckIdentities();
    CheckRules();
    CheckRights();
    CheckRowSecurity();
    WarnOfUpserts();
    WarnOfOtherUniques();
    CheckLiveView();
    WarnOfTakenName();
    WarnOfForeignKeys();
    if (is_sound_) report_.tables.push_back(std::move(table_));
  }

 private:
  template <typename... Parts>
  void Problem(const Parts&... parts) {
    is_sound_ = false;
    report_.problems.push_back(absl::StrCat("table ", plain_, parts...));
  }

  template <typename... Parts>
  void Warn(const Parts&... parts) {
    report_.warnings.push_back(absl::StrCat("table ", plain_, parts...));
  }

  std::string AlterColumn(const std::string& column, absl::string_view what) const {
    return absl::StrCat(": ALTER TABLE ", sql_, " ALTER COLUMN ", QuoteName(column), " ", what);
  }

  // Whether the relation is a table whose changes are streamed.
  bool CheckKind() {
    if (facts_.kind != 'r' && facts_.kind != 'p') {
      Problem(
          " is not a table; views, materialized views, foreign tables and the like have no stream "
          "of changes");
    } else if (facts_.is_system) {
      Problem(" belongs to the server itself");
    } else if (facts_.persistence == 't') {
      Problem(" is temporary: its changes are not in the WAL");
    } else if (facts_.persistence == 'u') {
      Problem(" is unlogged: its changes are not in the WAL: ALTER TABLE ", sql_, " SET LOGGED");
    } else if (facts_.has_children) {
      Problem(
          " has tables that inherit from it. Their rows would be read, but not their changes; "
          "make them partitions, or containers of their own: ALTER TABLE child NO INHERIT ",
          sql_);
    }
    return is_sound_;
  }

  // The column, if it exists and its values are in the stream; else reports a problem and returns
  // null.
  const ColumnFacts* Streamed(const std::string& name, absl::string_view role) {
    const ColumnFacts* column = facts_.Find(name);
    if (column == nullptr) {
      Names names;
      for (const ColumnFacts& other : facts_.columns) names.push_back(other.name);
      Problem(" has no column ", name, ", which is to be its ", role, "; it has ",
              absl::StrJoin(names, ", "));
      return nullptr;
    }
    if (column->is_generated) {
      Problem(": column ", name, ", its ", role,
              ", is generated, and so not in the stream of changes; take the columns that it is "
              "made of, or drop the expression",
              AlterColumn(name, "DROP EXPRESSION"));
      return nullptr;
    }
    return column;
  }

  static ColumnDefinition Definition(const ColumnFacts& column) {
    return {column.name, column.cast, !column.not_null};
  }

  std::vector<ColumnDefinition> KeyColumns(const Names& names, absl::string_view role,
                                           size_t max_bytes) {
    std::vector<ColumnDefinition> definitions;
    std::vector<const ColumnFacts*> columns;
    for (const std::string& name : names) {
      const ColumnFacts* column = Streamed(name, role);
      if (column == nullptr) continue;
      CheckKeyColumn(*column, role);
      definitions.push_back(Definition(*column));
      columns.push_back(column);
    }
    if (is_sound_ && MaxKeyBytes(columns).value_or(max_bytes + 1) > max_bytes) {
      Warn(": its ", role, " (", absl::StrJoin(names, ", "), ") may be longer than ", max_bytes,
           " bytes; rows with one that is are not tracked, and never expire");
    }
    return definitions;
  }

  void CheckKeyColumn(const ColumnFacts& column, absl::string_view role) {
    if (!column.not_null) {
      Problem(": column ", column.name, " of its ", role, " may be NULL",
              AlterColumn(column.name, "SET NOT NULL"));
    }
    if (!IsKeyType(column.base)) {
      Problem(": column ", column.name, " of its ", role, " is of type ", column.type,
              ", which has several texts for one value, or no order; a key takes ", KeyTypes());
    } else if (config_.is_group && !IsGroupKeyType(column.base)) {
      Problem(": column ", column.name, " of its group_by is of type ", column.type,
              ", which PostgreSQL cannot hash; each write would fail");
    }
    if (!column.is_deterministic) {
      Problem(": column ", column.name, " of its ", role,
              " has a nondeterministic collation, by which different texts are equal",
              AlterColumn(column.name, absl::StrCat("TYPE ", column.type, " COLLATE \"default\"")));
    }
  }

  void CheckTs() {
    if (!config_.ts_column.has_value()) {
      if (config_.expires_column.has_value() || config_.is_group) {
        table_.ts_source = TsSource::kNone;
      } else if (config_.row_level_security) {
        Problem(
            ": row_level_security needs a ts_column or an expires_column: PostgreSQL checks a new "
            "row before it has a commit time; use live_view");
      } else if (!config_.accept_commit_time) {
        RefuseCommitTime();
      }
      return;
    }
    const ColumnFacts* column = Streamed(*config_.ts_column, "ts_column");
    if (column == nullptr) return;
    table_.ts = Definition(*column);
    const bool is_reading = column->base.name == "timestamp";
    if (!config_.ts_zone.empty() && !is_reading) {
      Problem(": ts_zone is given, but column ", column->name, ", its ts_column, is of type ",
              column->type, ", which needs no ts_zone; remove it");
    }
    if (column->base.name == "timestamptz") {
      table_.ts_source = TsSource::kTimestamp;
    } else if (is_reading && !config_.ts_zone.empty()) {
      CheckZone();
    } else if (IsInteger(column->base, /*small_too=*/false)) {
      CheckEpoch(*column);
    } else {
      RefuseTsType(*column);
    }
    if (!column->not_null && config_.null_means == NullMeans::kFault) {
      Warn(": column ", column->name,
           ", its ts_column, may be NULL; such rows never expire. If that is intended, set "
           "null_means: never; if there are none",
           AlterColumn(column->name, "SET NOT NULL"));
    }
  }

  void CheckZone() {
    table_.ts_source = TsSource::kReading;
    table_.zone = Zone("ts_zone", config_.ts_zone, facts_.unfit_zone);
  }

  // Absent if the zone is invalid, which is reported.
  std::optional<StatedZone> Zone(absl::string_view field, const std::string& name,
                                 const std::string& unfit) {
    const absl::StatusOr<StatedZone> zone = StatedZone::Load(name);
    if (!zone.ok()) {
      Problem(": ", field, ": ", zone.status().message());
      return std::nullopt;
    }
    if (!unfit.empty()) Problem(": ", field, ": ", unfit);
    return *zone;
  }

  void CheckExpires() {
    if (!config_.expires_column.has_value()) return;
    const ColumnFacts* column = Streamed(*config_.expires_column, "expires_column");
    if (column == nullptr) return;
    table_.expires = Definition(*column);
    const bool is_date = column->base.name == "date";
    const bool takes_zone = is_date || column->base.name == "timestamp";
    if (takes_zone) {
      table_.end_source = is_date ? EndSource::kDate : EndSource::kReading;
      CheckExpiresZone(*column);
    } else if (column->base.name == "timestamptz") {
      table_.end_source = EndSource::kTimestamp;
    } else if (IsInteger(column->base, /*small_too=*/false)) {
      table_.end_source = EndSource::kEpochNumber;
      RefuseNarrowMilliseconds(*column, "expires_column", config_.expires_unit);
    } else {
      Problem(": column ", column->name, ", its expires_column, is of type ", column->type,
              "; it must be timestamp with or without time zone, date, bigint or integer");
    }
    if (!takes_zone && !config_.expires_zone.empty()) {
      Problem(": expires_zone is given, but column ", column->name,
              ", its expires_column, is of type ", column->type,
              ", which needs no expires_zone; remove it");
    }
    CheckEdge(*column, is_date);
    NoteDefaultTtl();
    NoteIndex();
  }

  void CheckExpiresZone(const ColumnFacts& column) {
    if (!config_.expires_zone.empty()) {
      table_.expires_zone = Zone("expires_zone", config_.expires_zone, facts_.unfit_expires_zone);
      return;
    }
    Problem(": column ", column.name, ", its expires_column, is of type ", column.type,
            ", which has no time zone; name it, as in expires_zone: UTC or "
            "expires_zone: Europe/Berlin");
  }

  void CheckEdge(const ColumnFacts& column, bool is_date) {
    if (is_date && config_.ends == DayEdge::kUnsaid) {
      Problem(": column ", column.name,
              ", its expires_column, is a date; set ends: start or ends: end, the start or the end "
              "of that day");
    } else if (!is_date && config_.ends != DayEdge::kUnsaid) {
      Problem(": ends is given, but column ", column.name, ", its expires_column, is of type ",
              column.type, ", which is not a date; remove ends");
    }
  }

  void NoteIndex() {
    const std::string indexed = IndexedEnd(table_);
    if (indexed.empty()) return;
    report_.notes.push_back(absl::StrCat(
        "table ", plain_, ": the offset of ", config_.expires_zone,
        " changes, so queries need an index on the instant, not on the column: "
        "CREATE INDEX ",
        table_.is_partitioned ? "" : "CONCURRENTLY ", "ON ", sql_, " (", indexed, ")"));
  }

  void NoteDefaultTtl() {
    const bool inherits = config_.expires_null == NullEnd::kInherits;
    report_.notes.push_back(
        absl::StrCat("table ", plain_, ": rows end at the time of their expires_column, ",
                     table_.expires->name, ", once container ", config_.container,
                     " has a default_ttl; before that nothing is hidden or deleted. ",
                     inherits ? "Rows without a time inherit it; -1 if they never expire: "
                              : "Rows without a time never expire, so set -1: ",
                     "ttlctl containers create ", config_.container, " --default-ttl -1"));
  }

  void RefuseCommitTime() {
    Problem(
        " has no ts_column, and commit times are not kept with the rows: a copy and a restore "
        "write all rows anew, and expired ones are visible again, as they are for a moment after "
        "ALTER TABLE with a rewrite where no event triggers hold the times. Give it a column, "
        "which a trigger sets at each UPDATE, and say ts_column: ttl_written_at: ALTER TABLE ",
        sql_,
        " ADD COLUMN ttl_written_at timestamp with time zone NOT NULL DEFAULT now(); or accept it "
        "with accept_commit_time: true. A table that says when its rows end needs neither: "
        "expires_column");
  }

  void CheckEpoch(const ColumnFacts& column) {
    table_.ts_source = TsSource::kEpochNumber;
    RefuseNarrowMilliseconds(column, "ts_column", config_.ts_unit);
  }

  void RefuseNarrowMilliseconds(const ColumnFacts& column, absl::string_view role, EpochUnit unit) {
    if (unit != EpochUnit::kMilliseconds || column.base.name != "int4") return;
    Problem(": column ", column.name, ", its ", role,
            ", is to count milliseconds, but an integer of 32 bits ends in January 1970",
            AlterColumn(column.name, "TYPE bigint"));
  }

  void RefuseTsType(const ColumnFacts& column) {
    if (column.base.name == "timestamp") {
      Problem(
          ": column ", column.name,
          ", its ts_column, is a timestamp without time zone; name its zone, as in ts_zone: UTC or "
          "ts_zone: Europe/Berlin");
      return;
    }
    Problem(": column ", column.name, ", its ts_column, is of type ", column.type,
            "; it must be timestamp with time zone, bigint or integer");
  }

  std::optional<ColumnDefinition> Integer(const std::optional<std::string>& name,
                                          absl::string_view what) {
    if (!name.has_value()) return std::nullopt;
    const std::string role = absl::StrCat(what, "_column");
    const ColumnFacts* column = Streamed(*name, role);
    if (column == nullptr) return std::nullopt;
    if (!IsInteger(column->base, /*small_too=*/true)) {
      Problem(": column ", *name, ", its ", role, ", is of type ", column->type,
              "; it must be bigint, integer or smallint");
    }
    return Definition(*column);
  }

  void CheckOnExpiry() {
    table_.archive = facts_.archive;
    if (config_.on_expiry != OnExpiry::kMark) return;
    const ColumnFacts* column = facts_.Find(config_.mark_column);
    if (column == nullptr) {
      Problem(" has no column ", config_.mark_column, ", which is to be its mark_column");
    } else if (column->is_generated) {
      Problem(": column ", column->name, ", its mark_column, is generated, and cannot be set");
    } else {
      table_.mark = Definition(*column);
    }
  }

  // Without a unique index a key may match several rows. The best index also lets the scan read
  // keys in its order.
  void CheckUniqueIndex() {
    const UniqueIndexFacts* best = nullptr;
    const auto rank = [](const UniqueIndexFacts& index) {
      return std::make_pair(index.gives_order, index.columns.size());
    };
    for (const UniqueIndexFacts& index : facts_.unique_indexes) {
      if (!ContainsAll(key_, index.columns)) continue;
      if (best == nullptr || rank(index) > rank(*best)) best = &index;
    }
    if (best == nullptr) {
      Problem(" has no unique index on columns of (", absl::StrJoin(key_, ", "),
              ") alone, at once valid, not partial, without expressions and not deferrable: CREATE "
              "UNIQUE INDEX ",
              table_.is_partitioned ? "" : "CONCURRENTLY ", "ON ", sql_, " (", QuotedList(key_),
              ")");
      return;
    }
    if (!best->gives_order) {
      Warn(": index ", best->name,
           " has columns in different directions or orders of their own; each page of the first "
           "scan sorts the whole table");
      return;
    }
    SetPageOrder(best->columns);
  }

  // The statements that judge and delete groups read the rows of one group at a time.
  void CheckGroup() {
    if (table_.is_partitioned) {
      Problem(" is partitioned, which group_by does not allow");
    }
    if (facts_.forces_row_security && (facts_.has_row_security || config_.row_level_security)) {
      Problem(
          ": group_by needs all rows of a group to be seen by the owner of the table, which "
          "row-level security binds: ALTER TABLE ",
          sql_, " NO FORCE ROW LEVEL SECURITY");
    }
    Names needed = key_;
    const bool is_by_column =
        config_.ts_column.has_value()
            ? !table_.zone.has_value() || table_.zone->is_fixed()
            : config_.expires_column.has_value() && IndexedEnd(table_).empty();
    if (is_by_column) {
      needed.push_back(config_.ts_column.value_or(config_.expires_column.value_or("")));
    }
    const bool has_index =
        std::any_of(facts_.indexes.begin(), facts_.indexes.end(), [&needed](const Names& columns) {
          return columns.size() >= needed.size() &&
                 std::equal(needed.begin(), needed.end(), columns.begin());
        });
    if (has_index) return;
    Problem(" has no index that begins with (", absl::StrJoin(needed, ", "),
            "), which group_by needs: CREATE INDEX CONCURRENTLY ON ", sql_, " (",
            QuotedList(needed), ")");
  }

  void SetPageOrder(const Names& index_columns) {
    Names order = index_columns;
    for (const std::string& name : key_) {
      if (!Contains(order, name)) order.push_back(name);
    }
    for (const std::string& name : order) {
      if (const ColumnFacts* column = facts_.Find(name); column != nullptr) {
        table_.page_order.push_back(Definition(*column));
      }
    }
  }

  // Each partition has its own replica identity.
  void CheckIdentities() {
    std::set<std::string> published(key_.begin(), key_.end());
    for (const auto* name :
         {&config_.ts_column, &config_.ttl_column, &config_.expires_column, &config_.size_column}) {
      if (name->has_value()) published.insert(**name);
    }
    Names unfit;
    Names not_streamed;
    for (const IdentityFacts& identity : facts_.identities) {
      published.insert(identity.columns.begin(), identity.columns.end());
      RefuseGenerated(identity);
      if (identity.is_root) {
        WarnOfNewPartitions(identity);
        continue;
      }
      table_.publishes_all_columns |= identity.identity == 'f';
      if (identity.kind != 'r' || identity.persistence != 'p') {
        not_streamed.push_back(identity.table);
      } else if (!IsEnough(identity)) {
        unfit.push_back(identity.table);
      }
    }
    if (!not_streamed.empty()) {
      Problem(" has partitions without a stream of changes, foreign or unlogged: ",
              SomeOf(not_streamed));
    }
    if (!unfit.empty()) RefuseIdentities(unfit);
    if (unfit.empty()) WarnOfRefusedWrites();
    for (const ColumnFacts& column : facts_.columns) {
      if (published.count(column.name) > 0) table_.published_columns.push_back(column.name);
    }
  }

  // A publication must have all columns of the identity, but cannot have generated columns.
  void RefuseGenerated(const IdentityFacts& identity) {
    if (identity.identity == 'f') return;
    for (const std::string& name : identity.columns) {
      const ColumnFacts* column = facts_.Find(name);
      if (column == nullptr || !column->is_generated || Contains(key_, name)) continue;
      Problem(": the replica identity of ", identity.table, " has column ", name,
              ", which is generated, and so cannot be published: ALTER TABLE ", identity.table,
              " REPLICA IDENTITY FULL");
    }
  }

  void CheckRules() {
    if (facts_.delete_rules.empty() || config_.on_expiry == OnExpiry::kMark) return;
    Problem(
        ": rules rewrite each DELETE of its rows, so that it cannot be told what became of them: ",
        SomeOf(facts_.delete_rules), "; make them triggers: DROP RULE ",
        facts_.delete_rules.front(), " ON ", sql_);
  }

  bool IsEnough(const IdentityFacts& identity) const {
    return identity.identity == 'f' || ContainsAll(identity.columns, key_);
  }

  // Partitions whose rows PostgreSQL does not let anyone update or delete while our publication has
  // its current columns.
  Names RefusedWrites() const {
    Names refused;
    const auto& published = facts_.published_columns;
    for (const IdentityFacts& identity : facts_.identities) {
      if (!facts_.is_published || identity.is_root) continue;
      const bool is_full = identity.identity == 'f';
      const bool is_covered =
          is_full ? !published.has_value()
                  : !identity.columns.empty() &&
                        (!published.has_value() || ContainsAll(*published, identity.columns));
      if (!is_covered) refused.push_back(identity.table);
    }
    return refused;
  }

  void WarnOfRefusedWrites() {
    const Names refused = RefusedWrites();
    if (refused.empty()) return;
    Warn(": PostgreSQL refuses UPDATE and DELETE of ", SomeOf(refused),
         ", the application's too, because the publication lacks columns of its replica identity; "
         "run ttl-postgres install");
  }

  void WarnOfNewPartitions(const IdentityFacts& root) {
    if (root.identity == 'd' && ContainsAll(root.columns, key_)) return;
    Warn(" has no primary key with all columns of (", absl::StrJoin(key_, ", "),
         "): a new partition has no replica identity until it is given one, and till then refuses "
         "every UPDATE and DELETE");
  }

  void RefuseIdentities(const Names& tables) {
    std::string cure = "REPLICA IDENTITY FULL";
    for (const UniqueIndexFacts& index : facts_.unique_indexes) {
      if (table_.is_partitioned || !ContainsAll(index.columns, key_)) continue;
      cure = absl::StrCat("REPLICA IDENTITY USING INDEX ", index.name);
      break;
    }
    Problem(": the replica identity of ", SomeOf(tables), " does not have all columns of (",
            absl::StrJoin(key_, ", "),
            "), so the stream does not say which row was deleted: ALTER TABLE ", tables.front(),
            " ", cure);
    const Names refused = RefusedWrites();
    if (refused.empty()) return;
    Problem(": until then PostgreSQL refuses UPDATE and DELETE of ", SomeOf(refused),
            ", the application's too, because a published table needs a replica identity");
  }

  void CheckRights() {
    Names missing;
    if (!facts_.may_select) missing.push_back("SELECT");
    if (!facts_.may_update) missing.push_back("UPDATE");  // required by SELECT ... FOR UPDATE
    const bool deletes = config_.on_expiry != OnExpiry::kMark;
    if (deletes && !facts_.may_delete) missing.push_back("DELETE");
    if (!missing.empty()) {
      Problem(": role ", facts_.role, " lacks rights: GRANT ", absl::StrJoin(missing, ", "), " ON ",
              sql_, " TO ", QuoteName(facts_.role));
    }
    if (!facts_.may_use_schema) {
      Problem(": role ", facts_.role, " may not use its schema: GRANT USAGE ON SCHEMA ",
              QuoteName(config_.schema), " TO ", QuoteName(facts_.role));
    }
    const bool makes_view = !config_.live_view.empty() && !facts_.has_view && !facts_.is_published;
    if (makes_view && !facts_.may_make_view) {
      Problem(": role ", facts_.role, " may not make its live_view: GRANT CREATE ON SCHEMA ",
              QuoteName(config_.live_view_schema()), " TO ", QuoteName(facts_.role));
    }
    if (config_.replace_expired && !facts_.owner_may_emit) {
      Problem(": its owner ", facts_.owner,
              " may not emit logical messages, as the trigger of replace_expired does: GRANT "
              "EXECUTE ON FUNCTION ",
              kEmitFunction, " TO ", QuoteName(facts_.owner));
    }
    if (!facts_.is_owner && !facts_.is_published) {
      Warn(" is owned by ", facts_.owner,
           ": to install it takes that role, a member of it, or a superuser");
    }
  }

  void CheckRowSecurity() {
    const bool is_wanted = config_.row_level_security;
    if ((is_wanted || facts_.has_row_security) && facts_.is_bound_by_row_security) {
      Problem(": row-level security hides rows from role ", facts_.role,
              ", which must see all: ALTER ROLE ", QuoteName(facts_.role), " BYPASSRLS");
    }
    if (!is_wanted) return;
    if (!facts_.has_row_security && facts_.has_policies_of_others) {
      Problem(
          " has policies, but its row-level security is off; switch it on, or drop them: ALTER "
          "TABLE ",
          sql_, " ENABLE ROW LEVEL SECURITY");
    }
    if (!facts_.forces_row_security) {
      Warn(": row-level security does not bind its owner ", facts_.owner,
           "; if the application is that role: ALTER TABLE ", sql_,
           " FORCE ROW LEVEL SECURITY, and BYPASSRLS for the role of ttl-postgres");
    }
  }

  // Also warns on servers before 15.20, since their next update brings the change.
  void WarnOfUpserts() {
    if (config_.replace_expired) return;
    if (config_.is_group) return WarnOfUpsertsIntoGroups();
    if (config_.row_level_security) {
      Warn(
          ": with row_level_security an INSERT ... ON CONFLICT DO UPDATE fails while an expired "
          "row of the same key is not yet deleted; replace_expired: true avoids it");
    } else if (!config_.live_view.empty()) {
      Warn(": from PostgreSQL 15.20 on an INSERT ... ON CONFLICT DO UPDATE through its live_view ",
           config_.live_view_schema(), ".", config_.live_view,
           " fails while an expired row of the same key is not yet deleted, and before it updates "
           "that row; replace_expired: true avoids both");
    }
  }

  void WarnOfUpsertsIntoGroups() {
    if (config_.row_level_security) {
      Warn(
          ": with row_level_security an INSERT ... ON CONFLICT DO UPDATE fails on a row of an "
          "expired group that is not yet deleted; an INSERT of a live row into the group before it "
          "avoids that");
    } else if (!config_.live_view.empty()) {
      Warn(": from PostgreSQL 15.20 on an INSERT ... ON CONFLICT DO UPDATE through its live_view ",
           config_.live_view_schema(), ".", config_.live_view,
           " fails on a row of an expired group that is not yet deleted; an INSERT of a live row "
           "into the group before it avoids that, unless the group is condemned");
    }
  }

  void WarnOfOtherUniques() {
    if (!config_.replace_expired || facts_.uniques_beside_key.empty()) return;
    Warn(
        ": replace_expired makes way for a row of the same key only: while an expired row of "
        "another "
        "key is not yet deleted, its values stay taken in ",
        SomeOf(facts_.uniques_beside_key),
        ", and an INSERT of them is refused although no query shows that row");
  }

  void CheckLiveView() {
    if (config_.live_view.empty() || !facts_.has_view) return;
    const std::string view = absl::StrCat(config_.live_view_schema(), ".", config_.live_view);
    if (!facts_.is_view_ours) {
      Problem(": its live_view ", view, " is there already and not ours; give another live_view");
    } else if (!facts_.view_lacks.empty()) {
      Warn(": its live_view ", view, " does not have the columns ", SomeOf(facts_.view_lacks),
           ", which are newer; ttl-postgres install adds them");
    }
  }

  // Warns if the application uses the former name of the table for the view.
  void WarnOfTakenName() {
    const bool is_other_schema = config_.live_view_schema() != config_.schema;
    if (config_.rename_table.empty() && !is_other_schema) return;
    Warn(": for the application ", config_.live_view_schema(), ".", config_.live_view,
         " is a view: COPY, TRUNCATE, MERGE, LOCK TABLE, ON CONFLICT ON CONSTRAINT, CREATE INDEX, "
         "ALTER TABLE ADD COLUMN and new foreign keys to it are refused; with row_level_security "
         "only COPY FROM is");
    if (!facts_.views_of_others.empty()) {
      Warn(": older views of it show expired rows, too: ", SomeOf(facts_.views_of_others),
           "; create them again on ", config_.live_view_schema(), ".", config_.live_view);
    }
    if (is_other_schema && !facts_.is_view_schema_searched) {
      Warn(": no role and no database has ", config_.live_view_schema(), " before ", config_.schema,
           " in its search_path, so the name of the table does not reach the view: ALTER DATABASE ",
           QuoteName(facts_.database), " SET search_path = ", QuoteName(config_.live_view_schema()),
           ", ", QuoteName(config_.schema));
    }
  }

  void WarnOfForeignKeys() {
    if (config_.on_expiry == OnExpiry::kMark) return;
    if (!facts_.refusing_keys.empty()) {
      Warn(": rows that others refer to are not deleted, since foreign keys refuse it: ",
           SomeOf(facts_.refusing_keys), "; with ON DELETE CASCADE or SET NULL they would not");
    }
    if (!facts_.unindexed_keys.empty()) {
      Warn(
          ": each delete of a row reads all of the tables that refer to it without an index on the "
          "referring columns: ",
          SomeOf(facts_.unindexed_keys), "; CREATE INDEX CONCURRENTLY on them");
    }
  }

  const TableConfig& config_;
  const TableFacts& facts_;
  CatalogReport& report_;
  const std::string plain_;  // human-readable
  const std::string sql_;    // quoted, for statements
  Names key_;
  bool is_sound_ = true;
  TableDefinition table_;
};

absl::Status RefuseTakenName(Connection& connection, const TableConfig& table,
                             CatalogReport& report) {
  const auto taken = connection.Query(
      "SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname "
      "= $1 AND c.relname = $2",
      {table.schema, table.rename_table});
  if (!taken.ok() || taken->rows() == 0) return taken.status();
  report.problems.push_back(absl::StrCat("table ", table.schema, ".", table.table,
                                         ": its rename_table ", table.rename_table,
                                         " already exists; give another rename_table"));
  report.tables.clear();
  return absl::OkStatus();
}

// PostgreSQL reads CET as an abbreviation with one offset all year, and the local time zone
// database as a zone with daylight saving. Empty: both agree.
absl::StatusOr<std::string> WhyZoneIsUnfit(Connection& connection, const std::string& name) {
  const absl::StatusOr<StatedZone> zone = StatedZone::Load(name);
  if (!zone.ok()) return std::string();  // reported separately
  const auto of_server = [&](absl::string_view reading) {
    return absl::StrCat("extract(epoch FROM ", zone->At(absl::StrCat("timestamp '", reading, "'")),
                        ")::bigint");
  };
  const auto read = connection.Query(
      absl::StrCat("SELECT ", of_server("2025-01-15"), ", ", of_server("2025-07-15")));
  if (SqlState(read.status()) == kInvalidValue) {
    return absl::StrCat("the server does not know \"", name,
                        "\", though this machine does; its time zone database (package tzdata) is "
                        "older, or another one");
  }
  TTL_RETURN_IF_ERROR(read.status());
  if (read->Number(0, 0) == zone->InstantOf(absl::CivilSecond(2025, 1, 15)) &&
      read->Number(0, 1) == zone->InstantOf(absl::CivilSecond(2025, 7, 15))) {
    return std::string();
  }
  return absl::StrCat(
      "\"", name,
      "\" means another offset to the server than to this machine, as an abbreviation does; give "
      "the full name of a zone, such as Europe/Berlin, or an offset such as +01:00");
}

// `group` has the tables of its group, if any, quoted and qualified.
absl::Status CheckOneTable(Connection& connection, const Config& config, const TableConfig& table,
                           const Names& group, CatalogReport& report) {
  TTL_ASSIGN_OR_RETURN(const auto renamed,
                       LookUpRenamed(connection, config.schema, table.schema, table.table));
  const std::string stored = renamed.value_or(table.table);
  std::vector<std::string> key = table.partition_key;
  key.insert(key.end(), table.id.begin(), table.id.end());
  TTL_ASSIGN_OR_RETURN(
      std::optional<TableFacts> facts,
      LookUpTable(connection,
                  {table.schema, stored, table.live_view, table.live_view_schema(), std::move(key),
                   config.publication, CommentMark(config.schema), group}));
  const std::string name = absl::StrCat(table.schema, ".", table.table);
  if (!facts.has_value()) {
    report.problems.push_back(absl::StrCat("table ", name,
                                           " does not exist in this database; case counts, and "
                                           "quotes do not belong into the name"));
    return absl::OkStatus();
  }
  if (!table.where.empty() && facts->may_use_schema && facts->may_select) {
    TableConfig now = table;
    now.table = stored;
    TTL_ASSIGN_OR_RETURN(facts->unfit_where, WhyWhereIsUnfit(connection, now));
  }
  for (const auto& [zone, unfit] : {std::pair{&table.ts_zone, &facts->unfit_zone},
                                    {&table.expires_zone, &facts->unfit_expires_zone}}) {
    if (zone->empty()) continue;
    TTL_ASSIGN_OR_RETURN(*unfit, WhyZoneIsUnfit(connection, *zone));
  }
  if (table.on_expiry == OnExpiry::kArchive) {
    TableConfig now = table;
    now.table = stored;
    TTL_ASSIGN_OR_RETURN(facts->archive, ReadArchive(connection, now));
  }
  TTL_ASSIGN_OR_RETURN(
      const auto is_installed,
      CanReadOwnTable(connection, config.schema, table.is_group ? "condemned" : "held_times"));
  TableCheck(table, stored, is_installed ? config.schema : "", *facts, report).Run();
  if (table.rename_table.empty() || stored == table.rename_table) return absl::OkStatus();
  return RefuseTakenName(connection, table, report);
}

}  // namespace

absl::Status CheckTable(Connection& connection, const Config& config, const TableConfig& table,
                        CatalogReport& report) {
  if (!table.is_group) return CheckOneTable(connection, config, table, {}, report);
  Names names = {QuoteQualified(table.schema, table.table)};
  for (const TableConfig& member : table.members) {
    names.push_back(QuoteQualified(member.schema, member.table));
  }
  absl::Status status = CheckOneTable(connection, config, table, names, report);
  for (const TableConfig& member : table.members) {
    TTL_RETURN_IF_ERROR(status);
    status = CheckOneTable(connection, config, member, names, report);
  }
  return status.ok() ? JoinGroup(connection, table, report) : status;
}

}  // namespace ttl::postgres
