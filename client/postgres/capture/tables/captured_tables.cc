#include "client/postgres/capture/tables/captured_tables.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/postgres/capture/tables/table_catalog.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_rows.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

std::string NamesOf(const std::vector<ColumnDefinition>& columns) {
  std::string names;
  for (const ColumnDefinition& column : columns) {
    absl::StrAppend(&names, " ", column.name, ":", column.type);
  }
  return names;
}

std::string NameOf(const std::optional<ColumnDefinition>& column) {
  return column.has_value() ? absl::StrCat(" ", column->name, ":", column->type) : " -";
}

// Empty for a table without an expires_column, as in earlier versions, so that an upgrade does not
// read such tables again.
std::string EndSourceOf(const TableDefinition& table) {
  if (!table.expires.has_value()) return "";
  const TableConfig& config = table.config;
  return absl::StrCat(
      " expires", NameOf(table.expires),
      config.expires_unit == EpochUnit::kMilliseconds ? " ms" : "",
      table.expires_zone.has_value() ? absl::StrCat(" in ", table.expires_zone->name()) : "",
      config.ends == DayEdge::kEnd ? " end" : "",
      config.expires_null == NullEnd::kInherits ? " or inherits" : "");
}

std::string SourceOfTable(const TableDefinition& table, uint32_t published) {
  const bool is_millis = table.config.ts_unit == EpochUnit::kMilliseconds;
  const std::string& condition = table.config.where;
  const std::string where = condition.empty() ? "" : absl::StrCat(" where ", condition);
  const bool is_renamed = table.config.table != table.configured_table;
  const std::string renamed = is_renamed ? absl::StrCat(" called ", table.config.table) : "";
  return absl::StrCat("table ", table.oid, renamed, " key", NamesOf(table.partition_key), " /",
                      NamesOf(table.id), " ts", NameOf(table.ts), is_millis ? " ms" : "",
                      table.zone.has_value() ? absl::StrCat(" in ", table.zone->name()) : "",
                      " ttl", NameOf(table.ttl), EndSourceOf(table), " size", NameOf(table.size),
                      where, " published ", published);
}

// TableProgress::source.
std::string SourceOf(const TableDefinition& table, const std::string& create_time,
                     const CapturedTables::PublishedOids& published) {
  const std::vector<const TableDefinition*> tables = TablesOf(table);
  std::string source;
  for (size_t i = 0; i < tables.size(); ++i) {
    absl::StrAppend(&source, i == 0 ? "" : " and ", SourceOfTable(*tables[i], published[i]));
  }
  return absl::StrCat(source, IsGroup(table) ? " by group" : "", " container of ", create_time);
}

}  // namespace

CapturedTables::PublishedOids PublishedOidsOf(
    const TableDefinition& table, const absl::flat_hash_map<uint32_t, uint32_t>& published) {
  CapturedTables::PublishedOids oids;
  for (const TableDefinition* one : TablesOf(table)) {
    const auto found = published.find(one->oid);
    oids.push_back(found == published.end() ? 0 : found->second);
  }
  return oids;
}

absl::StatusOr<CapturedTables> CapturedTables::Choose(const std::vector<TableDefinition>& tables,
                                                      const KnownContainers& containers) {
  CapturedTables chosen;
  chosen.containers_version_ = containers.version();
  for (const TableDefinition& table : tables) {
    auto time = containers.CreateTime(table.config.container);
    if (absl::IsNotFound(time.status())) {
      chosen.left_out_[table.config.container] = std::string(time.status().message());
      chosen.missing_.Update(time.status());
      continue;
    }
    TTL_RETURN_IF_ERROR(time.status());
    chosen.definitions_.push_back(table);
    chosen.items_.push_back(GroupsAsRows(table));
    chosen.create_times_.push_back(*std::move(time));
  }
  return chosen;
}

absl::Status CapturedTables::Load(PatientQuery& database, const Config& config) {
  for (const TableDefinition& table : AllTables(definitions_)) {
    TTL_ASSIGN_OR_RETURN(auto types, ReadColumnTypes(database, table));
    types_.push_back(std::move(types));
  }
  auto noted = LoadProgress(database, config.schema);
  if (absl::IsNotFound(noted.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat(noted.status().message(), "; `ttl-postgres install` makes it"));
  }
  TTL_RETURN_IF_ERROR(noted.status());
  TTL_ASSIGN_OR_RETURN(const auto published, ReadPublished(database, config.publication));
  for (size_t i = 0; i < size(); ++i) {
    published_.push_back(PublishedOidsOf(definitions_[i], published));
    TTL_RETURN_IF_ERROR(LoadOne(database, config, i, std::move((*noted)[container(i)])));
    noted->erase(container(i));
  }
  for (const auto& [container, progress] : *noted) {
    TTL_RETURN_IF_ERROR(ForgetProgress(database, config.schema, container));
  }
  return absl::OkStatus();
}

absl::Status CapturedTables::LoadOne(PatientQuery& database, const Config& config, size_t number,
                                     TableProgress noted) {
  const std::string source =
      SourceOf(definitions_[number], create_times_[number], published_[number]);
  if (noted.source != source) {
    if (!noted.source.empty()) {
      spdlog::warn(
          "container \"{}\": the container, the configuration of its table, or the table's "
          "place in the publication is another one than before; the table is read again",
          container(number));
    }
    noted = TableProgress();
    noted.source = source;
    TTL_RETURN_IF_ERROR(StoreProgress(database, config.schema, container(number), noted));
  }
  progress_.push_back(std::move(noted));
  return absl::OkStatus();
}

absl::StatusOr<bool> CapturedTables::StartOver(PatientQuery& database, const std::string& schema) {
  bool is_loss = false;
  for (size_t i = 0; i < size(); ++i) {
    TableProgress fresh;
    fresh.source = progress_[i].source;
    is_loss = is_loss || progress_[i] != fresh;
    TTL_RETURN_IF_ERROR(StoreProgress(database, schema, container(i), fresh));
    progress_[i] = std::move(fresh);
  }
  return is_loss;
}

absl::Status CapturedTables::CheckContainers(const KnownContainers& containers) {
  const uint64_t version = containers.version();
  if (version == containers_version_) return absl::OkStatus();
  containers_version_ = version;
  for (const auto& [container, why] : left_out_) {
    if (!containers.CreateTime(container).ok()) continue;
    return absl::AbortedError(
        absl::StrCat("container \"", container, "\" was created: its table is captured now"));
  }
  for (size_t i = 0; i < size(); ++i) {
    const auto time = containers.CreateTime(container(i));
    // If the sidecar is unavailable, the report pipeline returns the error.
    if (absl::IsUnavailable(time.status())) return absl::OkStatus();
    TTL_RETURN_IF_ERROR(time.status());
    if (*time != create_times_[i]) {
      return absl::AbortedError(absl::StrCat("container \"", container(i),
                                             "\" was created again: its table is read again"));
    }
  }
  return absl::OkStatus();
}

}  // namespace ttl::postgres
