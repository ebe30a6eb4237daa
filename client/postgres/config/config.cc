#include "client/postgres/config/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/postgres/config/yaml_reader.h"
#include "service/base/small_file.h"
#include "service/base/status_macros.h"
#include "service/yaml/yaml_document.h"

namespace ttl::postgres {
namespace {

constexpr size_t kMaxNameBytes = 63;        // PostgreSQL's NAMEDATALEN, less 1
constexpr size_t kMaxContainerBytes = 255;  // limit of the sidecar
constexpr size_t kMaxWhereBytes = 4000;
constexpr size_t kMaxMarkBytes = 1000;
constexpr absl::Duration kMaxTimeout = absl::Hours(1);
constexpr int64_t kMinSlotBytes = int64_t{1} << 20;
constexpr int64_t kMaxBackends = 262143;  // PostgreSQL's max_connections

using Field = YamlReader::Field;
using Names = std::vector<std::string>;

// Returns an empty string if the value was refused.
std::string ReadText(YamlReader& reader, const YamlPlace& place) {
  std::string text;
  reader.ReadText(place, text);
  return text;
}

void ReadName(YamlReader& reader, const YamlPlace& place, std::string& name) {
  std::string text = ReadText(reader, place);
  if (text.size() > kMaxNameBytes) {
    reader.Refuse(place, absl::StrCat("a name of at most ", kMaxNameBytes, " bytes"));
  } else if (!text.empty()) {
    name = std::move(text);
  }
}

void ReadName(YamlReader& reader, const YamlPlace& place, std::optional<std::string>& name) {
  ReadName(reader, place, name.emplace());
}

void ReadNames(YamlReader& reader, const YamlPlace& place, Names& names) {
  reader.ReadTexts(place, names);
  for (const std::string& name : names) {
    if (name.size() <= kMaxNameBytes) continue;
    reader.Report(place, absl::StrCat("\"", name.substr(0, kMaxNameBytes), "...\" is longer than ",
                                      kMaxNameBytes, " bytes, which no name may be"));
  }
}

void ReadContainer(YamlReader& reader, const YamlPlace& place, std::string& container) {
  std::string text = ReadText(reader, place);
  if (text.size() > kMaxContainerBytes ||
      std::any_of(text.begin(), text.end(), absl::ascii_iscntrl)) {
    return reader.Refuse(place, absl::StrCat("the id of a container: 1 to ", kMaxContainerBytes,
                                             " bytes without control characters"));
  }
  container = std::move(text);
}

void ReadEpochUnit(YamlReader& reader, const YamlPlace& place, EpochUnit& unit) {
  const std::string name = place.node.IsScalar() ? place.node.Scalar() : "";
  if (name == "seconds") {
    unit = EpochUnit::kSeconds;
  } else if (name == "milliseconds") {
    unit = EpochUnit::kMilliseconds;
  } else {
    reader.Refuse(place, "seconds or milliseconds");
  }
}

void ReadNullMeans(YamlReader& reader, const YamlPlace& place, NullMeans& null_means) {
  const std::string name = place.node.IsScalar() ? place.node.Scalar() : "";
  if (name != "never") return reader.Refuse(place, "never");
  null_means = NullMeans::kNever;
}

void ReadNullEnd(YamlReader& reader, const YamlPlace& place, NullEnd& null_end) {
  const std::string name = place.node.IsScalar() ? place.node.Scalar() : "";
  if (name != "never" && name != "inherits") return reader.Refuse(place, "never or inherits");
  null_end = name == "never" ? NullEnd::kNever : NullEnd::kInherits;
}

void ReadDayEdge(YamlReader& reader, const YamlPlace& place, DayEdge& edge) {
  const std::string name = place.node.IsScalar() ? place.node.Scalar() : "";
  if (name != "start" && name != "end") return reader.Refuse(place, "start or end, of the day");
  edge = name == "start" ? DayEdge::kStart : DayEdge::kEnd;
}

void ReadOnExpiry(YamlReader& reader, const YamlPlace& place, OnExpiry& on_expiry) {
  const std::string name = place.node.IsScalar() ? place.node.Scalar() : "";
  if (name != "delete" && name != "archive" && name != "mark") {
    return reader.Refuse(place, "delete, archive or mark");
  }
  on_expiry = name == "delete"    ? OnExpiry::kDelete
              : name == "archive" ? OnExpiry::kArchive
                                  : OnExpiry::kMark;
}

void ReadMarkValue(YamlReader& reader, const YamlPlace& place, std::string& value) {
  std::string text = ReadText(reader, place);
  if (text.size() > kMaxMarkBytes) {
    return reader.Refuse(place, absl::StrCat("a value of at most ", kMaxMarkBytes, " bytes"));
  }
  value = std::move(text);
}

void ReadWhere(YamlReader& reader, const YamlPlace& place, std::string& where) {
  std::string text = ReadText(reader, place);
  if (text.size() > kMaxWhereBytes) {
    return reader.Refuse(place, absl::StrCat("an SQL condition of at most ", kMaxWhereBytes,
                                             " bytes, such as state = 'completed'"));
  }
  where = std::move(text);
}

void ReadSlot(YamlReader& reader, const YamlPlace& place, std::string& slot) {
  std::string name = slot;
  ReadName(reader, place, name);
  const auto fits = [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  };
  if (!std::all_of(name.begin(), name.end(), fits)) {
    return reader.Refuse(place, "the name of a replication slot: small letters, digits and _");
  }
  slot = std::move(name);
}

// The schema must belong to ttl-postgres alone, since uninstall drops it.
void ReadSchema(YamlReader& reader, const YamlPlace& place, std::string& schema) {
  std::string name = schema;
  ReadName(reader, place, name);
  if (name == "public" || name == "information_schema" || absl::StartsWith(name, "pg_")) {
    return reader.Refuse(place, "a schema for ttl-postgres alone, such as ttl");
  }
  schema = std::move(name);
}

void ReadGrpcAddress(YamlReader& reader, const YamlPlace& place, std::string& address) {
  std::string text = ReadText(reader, place);
  if (text.empty()) return;
  if (absl::StartsWith(text, "http:") || absl::StartsWith(text, "https:") ||
      absl::StartsWith(text, "/") || !absl::StrContains(text, ":") || absl::EndsWith(text, ":")) {
    return reader.Refuse(place, "a gRPC address: unix:/path/to/socket or host:port");
  }
  address = std::move(text);
}

bool IsPort(absl::string_view text) {
  int port = 0;
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, &port) && port <= 65535;
}

void ReadHostPort(YamlReader& reader, const YamlPlace& place, std::string& address) {
  std::string text = ReadText(reader, place);
  if (text.empty()) return;
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || !IsPort(text.substr(colon + 1))) {
    return reader.Refuse(place, "host:port, such as 127.0.0.1:9465");
  }
  address = std::move(text);
}

bool IsGiven(const YamlPlace& place, const char* key) {
  const YAML::Node value = place.node[key];
  return value.IsDefined() && !value.IsNull();
}

void CheckExpires(YamlReader& reader, const YamlPlace& place, const TableConfig& table) {
  if (!table.expires_column.has_value()) {
    for (const char* key : {"expires_unit", "expires_zone", "ends", "expires_null"}) {
      if (!IsGiven(place, key)) continue;
      reader.Report(place, absl::StrCat(key, " needs expires_column"));
    }
    return;
  }
  if (table.accept_commit_time) {
    reader.Report(
        place,
        "accept_commit_time is given with expires_column, which needs no commit times; remove it");
  }
  if (table.expires_column == table.ts_column) {
    reader.Report(place,
                  "expires_column and ts_column are the same column; a column is either the end of "
                  "a row or its last modification: remove one");
  }
  if (table.ts_column.has_value()) return;
  if (table.ttl_column.has_value()) {
    reader.Report(place, "ttl_column needs ts_column, because a ttl counts from _ts");
  }
  if (table.expires_null == NullEnd::kInherits) {
    reader.Report(place,
                  "expires_null: inherits needs ts_column, because default_ttl counts from _ts");
  }
}

// Refuses keys that belong to another on_expiry than the table has.
void RefuseForeignKeys(YamlReader& reader, const YamlPlace& place, const TableConfig& table) {
  const std::pair<const char*, OnExpiry> owners[] = {{"archive_table", OnExpiry::kArchive},
                                                     {"archive_schema", OnExpiry::kArchive},
                                                     {"archived_at", OnExpiry::kArchive},
                                                     {"mark_column", OnExpiry::kMark},
                                                     {"mark_value", OnExpiry::kMark}};
  for (const auto& [key, owner] : owners) {
    if (owner == table.on_expiry || !IsGiven(place, key)) continue;
    reader.Report(
        place,
        absl::StrCat(key, " needs on_expiry: ", owner == OnExpiry::kArchive ? "archive" : "mark"));
  }
}

void CheckArchive(YamlReader& reader, const YamlPlace& place, const TableConfig& table) {
  if (table.archive_table.empty()) {
    return reader.Report(
        place, "on_expiry: archive needs archive_table, the table that expired rows are moved to");
  }
  if (table.schema_of_archive() != table.schema) return;
  if (table.archive_table == table.table || table.archive_table == table.rename_table) {
    reader.Report(place, "archive_table is the table itself; give another one");
  }
}

void CheckMark(YamlReader& reader, const YamlPlace& place, const TableConfig& table) {
  for (const char* key : {"mark_column", "mark_value"}) {
    if (IsGiven(place, key)) continue;
    reader.Report(place, absl::StrCat("on_expiry: mark needs ", key));
  }
  if (table.where.empty()) {
    reader.Report(place,
                  "on_expiry: mark needs a where that no longer takes in a marked row, such as "
                  "where: deleted_at IS NULL");
  }
  if (table.replace_expired) {
    reader.Report(place,
                  "replace_expired is given with on_expiry: mark, which keeps the row, so that "
                  "there is no place for another of its key; remove one of them");
  }
  Names used = table.partition_key;
  used.insert(used.end(), table.id.begin(), table.id.end());
  for (const auto& column :
       {table.ts_column, table.ttl_column, table.expires_column, table.size_column}) {
    if (column.has_value()) used.push_back(*column);
  }
  if (std::find(used.begin(), used.end(), table.mark_column) == used.end()) return;
  reader.Report(place, absl::StrCat("mark_column ", table.mark_column,
                                    " is a column of the key, or another one that says what the "
                                    "item is; give a column for the mark alone"));
}

void CheckOnExpiry(YamlReader& reader, const YamlPlace& place, const TableConfig& table) {
  RefuseForeignKeys(reader, place, table);
  if (table.on_expiry == OnExpiry::kArchive) CheckArchive(reader, place, table);
  if (table.on_expiry == OnExpiry::kMark) CheckMark(reader, place, table);
}

void CheckColumns(YamlReader& reader, const YamlPlace& place, const TableConfig& table) {
  std::set<std::string> seen;
  for (const Names* names : {&table.partition_key, &table.id}) {
    for (const std::string& name : *names) {
      if (!name.empty() && !seen.insert(name).second) {
        reader.Report(place, absl::StrCat("column ", name, " is in the key twice"));
      }
    }
  }
  for (const char* key : {"ts_unit", "ts_zone", "null_means"}) {
    if (!IsGiven(place, key) || table.ts_column.has_value()) continue;
    reader.Report(place, absl::StrCat(key, " needs ts_column"));
  }
  if (table.accept_commit_time && table.ts_column.has_value()) {
    reader.Report(place, "accept_commit_time is given with ts_column, which is what counts then");
  }
  CheckExpires(reader, place, table);
  CheckOnExpiry(reader, place, table);
}

constexpr absl::string_view kSameTimes =
    "the tables of a group have either a ts_column each or an expires_column each; one without "
    "either follows the others";

// Refuses what is not defined for groups.
void RefuseWithGroup(YamlReader& reader, const YamlPlace& place, const TableConfig& table) {
  for (const char* key : {"id", "partition_key", "where", "ttl_column", "size_column",
                          "rename_table", "accept_commit_time", "replace_expired"}) {
    if (!IsGiven(place, key)) continue;
    reader.Report(place, absl::StrCat(key, " is given with group_by, which does not allow it"));
  }
  if (table.on_expiry != OnExpiry::kDelete) {
    reader.Report(place,
                  "on_expiry is given with group_by; the rows of a group can only be deleted");
  }
}

void CheckGroup(YamlReader& reader, const YamlPlace& place, const TableConfig& table) {
  if (!table.is_group) {
    if (IsGiven(place, "members")) reader.Report(place, "members needs group_by");
    return;
  }
  RefuseWithGroup(reader, place, table);
  if (table.ts_column.has_value() == table.expires_column.has_value()) {
    return reader.Report(place, "group_by needs either a ts_column or an expires_column");
  }
  for (const TableConfig& member : table.members) {
    if (member.id.size() != table.id.size()) {
      reader.Report(place, absl::StrCat("member ", member.table, " has ", member.id.size(),
                                        " columns in group_by; must have ", table.id.size(),
                                        ", as its group"));
    }
    const bool is_other = member.ts_column.has_value() != table.ts_column.has_value() ||
                          member.expires_column.has_value() != table.expires_column.has_value();
    if (member.has_times() && is_other) {
      reader.Report(place, absl::StrCat("member ", member.table, ": ", kSameTimes));
    }
  }
}

// Checks the names by which the application reads live rows, and derives those that are not given.
void CompleteView(YamlReader& reader, const YamlPlace& place, TableConfig& table) {
  if (!table.rename_table.empty()) {
    if (!table.live_view.empty() || !table.view_schema.empty()) {
      reader.Report(place,
                    "rename_table is given with live_view or view_schema, but its view has the "
                    "table's name and schema; leave out one of them");
    } else if (table.rename_table == table.table) {
      reader.Report(place, "rename_table is the table's own name; give another one");
    }
    table.live_view = table.table;
  } else if (!table.view_schema.empty() && table.live_view.empty()) {
    table.live_view = table.table;
  }
}

using Fields = std::vector<Field>;

Field NameField(YamlReader& reader, const char* key, auto& target, bool is_required = false) {
  return {key, [&reader, &target](const YamlPlace& value) { ReadName(reader, value, target); },
          is_required};
}

Fields TsFields(YamlReader& reader, TableConfig& table) {
  return {NameField(reader, "ts_column", table.ts_column),
          {"ts_unit", [&reader, &table](
                          const YamlPlace& value) { ReadEpochUnit(reader, value, table.ts_unit); }},
          {"ts_zone",
           [&reader, &table](const YamlPlace& value) { reader.ReadText(value, table.ts_zone); }},
          {"null_means", [&reader, &table](const YamlPlace& value) {
             ReadNullMeans(reader, value, table.null_means);
           }}};
}

Fields ExpiresFields(YamlReader& reader, TableConfig& table) {
  return {
      NameField(reader, "expires_column", table.expires_column),
      {"expires_unit",
       [&reader, &table](const YamlPlace& value) {
         ReadEpochUnit(reader, value, table.expires_unit);
       }},
      {"expires_zone",
       [&reader, &table](const YamlPlace& value) { reader.ReadText(value, table.expires_zone); }},
      {"ends",
       [&reader, &table](const YamlPlace& value) { ReadDayEdge(reader, value, table.ends); }}};
}

Fields ViewFields(YamlReader& reader, TableConfig& table) {
  return {NameField(reader, "live_view", table.live_view),
          NameField(reader, "view_schema", table.view_schema),
          {"row_level_security", [&reader, &table](const YamlPlace& value) {
             reader.ReadBool(value, table.row_level_security);
           }}};
}

void Append(Fields more, Fields& fields) {
  std::move(more.begin(), more.end(), std::back_inserter(fields));
}

// Reads a member of the groups of `first`, whose columns of group_by it has unless it names others.
TableConfig ReadMember(YamlReader& reader, const YamlPlace& place, const TableConfig& first) {
  TableConfig member;
  member.container = first.container;
  member.schema = first.schema;
  member.id = first.id;
  member.is_group = true;
  Fields fields = {
      NameField(reader, "table", member.table, true),
      NameField(reader, "schema", member.schema),
      {"group_by", [&](const YamlPlace& value) { ReadNames(reader, value, member.id); }}};
  Append(TsFields(reader, member), fields);
  Append(ExpiresFields(reader, member), fields);
  Append(ViewFields(reader, member), fields);
  reader.ReadMapping(place, fields);
  if (place.node.IsMap()) CheckColumns(reader, place, member);
  CompleteView(reader, place, member);
  return member;
}

void ReadMembers(YamlReader& reader, const YamlPlace& place, TableConfig& table) {
  if (!place.node.IsSequence() || place.node.size() == 0) {
    return reader.Refuse(place, "a list of tables, at least one");
  }
  for (const YAML::Node& node : place.node) {
    const YamlPlace entry = {absl::StrCat(place.path, "[", table.members.size(), "]"), node};
    table.members.push_back(ReadMember(reader, entry, table));
  }
}

TableConfig ReadTable(YamlReader& reader, const YamlPlace& place) {
  TableConfig table;
  table.is_group = place.node.IsMap() && IsGiven(place, "group_by");
  Fields fields = {
      {"container", [&](const YamlPlace& value) { ReadContainer(reader, value, table.container); },
       true},
      NameField(reader, "schema", table.schema),
      NameField(reader, "table", table.table, true),
      {"partition_key",
       [&](const YamlPlace& value) { ReadNames(reader, value, table.partition_key); }},
      {"id", [&](const YamlPlace& value) { ReadNames(reader, value, table.id); }, !table.is_group},
      {"group_by", [&](const YamlPlace& value) { ReadNames(reader, value, table.id); }},
      {"where", [&](const YamlPlace& value) { ReadWhere(reader, value, table.where); }},
      {"accept_commit_time",
       [&](const YamlPlace& value) { reader.ReadBool(value, table.accept_commit_time); }}};
  Append(TsFields(reader, table), fields);
  fields.push_back(NameField(reader, "ttl_column", table.ttl_column));
  Append(ExpiresFields(reader, table), fields);
  Append(
      {{"expires_null",
        [&](const YamlPlace& value) { ReadNullEnd(reader, value, table.expires_null); }},
       NameField(reader, "size_column", table.size_column),
       {"on_expiry", [&](const YamlPlace& value) { ReadOnExpiry(reader, value, table.on_expiry); }},
       NameField(reader, "archive_table", table.archive_table),
       NameField(reader, "archive_schema", table.archive_schema),
       NameField(reader, "archived_at", table.archived_at),
       NameField(reader, "mark_column", table.mark_column),
       {"mark_value",
        [&](const YamlPlace& value) { ReadMarkValue(reader, value, table.mark_value); }},
       NameField(reader, "rename_table", table.rename_table),
       {"replace_expired",
        [&](const YamlPlace& value) { reader.ReadBool(value, table.replace_expired); }}},
      fields);
  Append(ViewFields(reader, table), fields);
  std::optional<YamlPlace> members;
  fields.push_back({"members", [&](const YamlPlace& value) { members = value; }});
  reader.ReadMapping(place, fields);
  // Last: a member has the schema and the columns of its group, unless it names others.
  if (members.has_value()) ReadMembers(reader, *members, table);
  if (place.node.IsMap()) {
    CheckColumns(reader, place, table);
    CheckGroup(reader, place, table);
  }
  CompleteView(reader, place, table);
  return table;
}

// Set of names that must be unique, each with the entry that uses it.
class Taken {
 public:
  explicit Taken(YamlReader& reader) : reader_(reader) {}

  void Claim(const YamlPlace& place, const std::string& what, const std::string& name) {
    const auto [other, is_new] = owners_.try_emplace(name, place.path);
    if (is_new) return;
    reader_.Report(place, absl::StrCat(what, " ", name, " is taken by ", other->second));
  }

 private:
  YamlReader& reader_;
  std::map<std::string, std::string> owners_;
};

void ClaimRelations(const YamlPlace& entry, const TableConfig& table, Taken& relations) {
  const std::string& stored = table.rename_table.empty() ? table.table : table.rename_table;
  if (!stored.empty()) relations.Claim(entry, "table", absl::StrCat(table.schema, ".", stored));
  if (table.live_view.empty()) return;
  relations.Claim(entry, "view", absl::StrCat(table.live_view_schema(), ".", table.live_view));
}

void ReadTables(YamlReader& reader, const YamlPlace& place, std::vector<TableConfig>& tables) {
  if (!place.node.IsSequence() || place.node.size() == 0) {
    return reader.Refuse(place, "a list of tables, at least one");
  }
  Taken containers(reader);
  Taken relations(reader);
  for (const YAML::Node& node : place.node) {
    const YamlPlace entry = {absl::StrCat(place.path, "[", tables.size(), "]"), node};
    const TableConfig& table = tables.emplace_back(ReadTable(reader, entry));
    if (!table.container.empty()) containers.Claim(entry, "container", table.container);
    ClaimRelations(entry, table, relations);
    for (const TableConfig& member : table.members) ClaimRelations(entry, member, relations);
  }
}

// An archive_table must not have the name of a live view, since that name is a view once everything
// is installed.
void RefuseArchivesThatAreViews(YamlReader& reader, const YamlPlace& place, const Config& config) {
  for (const TableConfig& archived : config.tables) {
    for (const TableConfig& table : config.tables) {
      if (archived.on_expiry != OnExpiry::kArchive || table.live_view.empty()) continue;
      if (archived.archive_table != table.live_view ||
          archived.schema_of_archive() != table.live_view_schema()) {
        continue;
      }
      reader.Report(place,
                    absl::StrCat("archive_table of container ", archived.container, ", ",
                                 archived.schema_of_archive(), ".", archived.archive_table,
                                 ", is the view of container ", table.container, "; give a table"));
    }
  }
}

bool MovesTo(const TableConfig& from, const TableConfig& to) {
  return from.on_expiry == OnExpiry::kArchive && !from.archive_table.empty() &&
         from.schema_of_archive() == to.schema &&
         (from.archive_table == to.table || from.archive_table == to.rename_table);
}

// Refuses a cycle of archives, in which rows would move forever.
void RefuseArchivesInACircle(YamlReader& reader, const YamlPlace& place, const Config& config) {
  for (const TableConfig& first : config.tables) {
    const TableConfig* at = &first;
    // A cycle through `first` has at most this many steps.
    for (size_t step = 0; step < config.tables.size() && at != nullptr; ++step) {
      const auto next = std::find_if(config.tables.begin(), config.tables.end(),
                                     [&](const TableConfig& to) { return MovesTo(*at, to); });
      at = next == config.tables.end() ? nullptr : &*next;
      if (at == &first) break;
    }
    if (at != &first || MovesTo(first, first)) continue;
    reader.Report(place, absl::StrCat("archive_table of container ", first.container, ", ",
                                      first.schema_of_archive(), ".", first.archive_table,
                                      ", leads back to the table by the archives of other "
                                      "containers; rows would be moved for ever"));
    return;
  }
}

void RefuseOwnSchema(YamlReader& reader, const YamlPlace& place, const Config& config,
                     const TableConfig& table) {
  if (table.schema != config.schema && table.view_schema != config.schema) return;
  reader.Report(place,
                absl::StrCat("schema: ", config.schema, " is the schema of table ", table.table,
                             " or of its view; give one for ttl-postgres alone"));
}

void CheckTogether(YamlReader& reader, const YamlPlace& place, const Config& config) {
  RefuseArchivesThatAreViews(reader, place, config);
  RefuseArchivesInACircle(reader, place, config);
  if (config.lock_timeout > config.statement_timeout) {
    reader.Report(place, "lock_timeout is longer than statement_timeout, which would end first");
  }
  for (const TableConfig& table : config.tables) {
    RefuseOwnSchema(reader, place, config, table);
    for (const TableConfig& member : table.members) {
      RefuseOwnSchema(reader, place, config, member);
    }
  }
}

Config ReadTopLevel(YamlReader& reader, const YamlPlace& place) {
  Config config;
  const auto field = [&](const char* key, auto read, auto& target, bool is_required = false) {
    return Field{key,
                 [&reader, &target, read](const YamlPlace& value) { read(reader, value, target); },
                 is_required};
  };
  const auto read_text = [](YamlReader& r, const YamlPlace& at, std::string& text) {
    r.ReadText(at, text);
  };
  const auto read_name = [](YamlReader& r, const YamlPlace& at, std::string& name) {
    ReadName(r, at, name);
  };
  const auto read_timeout = [](YamlReader& r, const YamlPlace& at, absl::Duration& timeout) {
    r.ReadDuration(at, kMaxTimeout, /*zero_is_off=*/false, timeout);
  };
  const auto read_limit = [](YamlReader& r, const YamlPlace& at, absl::Duration& limit) {
    r.ReadDuration(at, kMaxTimeout, /*zero_is_off=*/true, limit);
  };
  const auto read_bytes = [](YamlReader& r, const YamlPlace& at, int64_t& bytes) {
    r.ReadBytes(at, kMinSlotBytes, bytes);
  };
  const auto read_backends = [](YamlReader& r, const YamlPlace& at, int& backends) {
    int64_t number = backends;
    r.ReadWhole(at, 0, kMaxBackends, number);
    backends = static_cast<int>(number);
  };
  reader.ReadMapping(
      place, {field("database", read_text, config.database, true),
              field("replication", read_text, config.replication),
              field("sidecar", ReadGrpcAddress, config.sidecar),
              field("listen", ReadGrpcAddress, config.listen),
              field("health_listen", ReadHostPort, config.health_listen),
              field("metrics_listen", ReadHostPort, config.metrics_listen),
              field("schema", ReadSchema, config.schema), field("slot", ReadSlot, config.slot),
              field("publication", read_name, config.publication),
              field("max_slot_bytes", read_bytes, config.max_slot_bytes),
              field("lock_timeout", read_timeout, config.lock_timeout),
              field("statement_timeout", read_timeout, config.statement_timeout),
              field("max_latency", read_limit, config.max_latency),
              field("max_active_backends", read_backends, config.max_active_backends),
              field("tables", ReadTables, config.tables, true)});
  CheckTogether(reader, place, config);
  return config;
}

absl::StatusOr<Config> ReadDocument(const YAML::Node& document) {
  YamlReader reader;
  Config config = ReadTopLevel(reader, {"", document});
  if (reader.problems().empty()) return config;
  return absl::InvalidArgumentError(absl::StrJoin(reader.problems(), "\n"));
}

}  // namespace

absl::StatusOr<Config> ParseConfig(absl::string_view yaml) {
  Config config;
  TTL_RETURN_IF_ERROR(
      ReadYamlDocument(std::string(yaml), "line ", [&](const YAML::Node& document) -> absl::Status {
        absl::StatusOr<Config> found = ReadDocument(document);
        if (found.ok()) config = *std::move(found);
        return found.status();
      }));
  return config;
}

absl::StatusOr<Config> ReadConfig(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return absl::NotFoundError(text.status().message());
  absl::StatusOr<Config> config = ParseConfig(*text);
  if (config.ok()) return config;
  const std::string each = absl::StrCat("\n", path, ": ");
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", absl::StrReplaceAll(config.status().message(), {{"\n", each}})));
}

}  // namespace ttl::postgres
