#include "client/postgres/capture/stream/relation_map.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/group.h"

namespace ttl::postgres {
namespace {

std::string NameOf(absl::string_view schema, absl::string_view table) {
  return absl::StrCat(schema, ".", table);
}

// Finds columns in a relation message, and collects its mismatches.
class Fitting {
 public:
  Fitting(const RelationMessage& relation, const ColumnTypes& types)
      : relation_(relation), types_(types) {}

  StreamedTable::Place Find(const ColumnDefinition& column) {
    for (size_t i = 0; i < relation_.columns.size(); ++i) {
      if (relation_.columns[i].name != column.name) continue;
      CheckType(column, relation_.columns[i]);
      return {column.name, i};
    }
    problems_.push_back(absl::StrCat("there is no column \"", column.name, "\""));
    return {column.name, 0};
  }

  std::vector<StreamedTable::Place> Find(const std::vector<ColumnDefinition>& columns) {
    std::vector<StreamedTable::Place> places;
    for (const ColumnDefinition& column : columns) places.push_back(Find(column));
    return places;
  }

  std::optional<StreamedTable::Place> Find(const std::optional<ColumnDefinition>& column) {
    if (!column.has_value()) return std::nullopt;
    return Find(*column);
  }

  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void CheckType(const ColumnDefinition& column, const RelationMessage::Column& streamed) {
    const auto type = types_.find(column.name);
    const ColumnType is{streamed.type_oid, streamed.type_modifier};
    if (type == types_.end() || type->second == is) return;
    problems_.push_back(absl::StrCat("column \"", column.name, "\" is not of type ", column.type,
                                     " but of the type with oid ", is.oid, ", modifier ",
                                     is.modifier));
  }

  const RelationMessage& relation_;
  const ColumnTypes& types_;
  std::vector<std::string> problems_;
};

}  // namespace

RelationMap::RelationMap(absl::Span<const TableDefinition> definitions,
                         std::vector<ColumnTypes> types)
    : types_(std::move(types)) {
  size_t types_before = 0;
  for (size_t i = 0; i < definitions.size(); ++i) {
    for (const TableDefinition* definition : TablesOf(definitions[i])) {
      StreamedTable& table = tables_[definition->oid];
      table.definition = definition;
      table.number = i;
      table.types = types_before++;
      table.fit = absl::DataLossError(
          absl::StrCat("table ", NameOf(definition->config.schema, definition->config.table),
                       ": a row came before the description of its columns"));
    }
  }
}

absl::Status RelationMap::Describe(const RelationMessage& relation) {
  const auto found = tables_.find(relation.oid);
  if (found == tables_.end()) return absl::OkStatus();
  found->second.fit = Fit(relation, found->second);
  return found->second.fit;
}

absl::Status RelationMap::Fit(const RelationMessage& relation, StreamedTable& table) const {
  const TableDefinition& definition = *table.definition;
  Fitting fitting(relation, types_[table.types]);
  table.columns = relation.columns.size();
  table.partition_key = fitting.Find(definition.partition_key);
  table.id = fitting.Find(definition.id);
  table.ts = fitting.Find(definition.ts);
  table.ttl = fitting.Find(definition.ttl);
  table.expires = fitting.Find(definition.expires);
  table.size = fitting.Find(definition.size);

  std::vector<std::string> problems = fitting.problems();
  const std::string name = NameOf(definition.config.schema, definition.config.table);
  const std::string streamed = NameOf(relation.schema, relation.table);
  if (streamed != name) {
    problems.insert(problems.begin(), absl::StrCat("its name is ", streamed));
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("table ", name, " (container \"", definition.config.container,
                   "\") was not what the configuration says when its rows were written: ",
                   absl::StrJoin(problems, "; ")));
}

const StreamedTable* RelationMap::Find(uint32_t relation) const {
  const auto found = tables_.find(relation);
  return found == tables_.end() ? nullptr : &found->second;
}

}  // namespace ttl::postgres
