#ifndef TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLED_OBJECTS_H_
#define TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLED_OBJECTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/table_definition.h"

// What install makes beside the schema's own tables and functions: views, policies of
// row-level security, triggers and the publication. Each is marked by its comment, which says
// that it is ours and which definition made it. So what is there can be compared with what
// should be, and removed, whatever configuration it came from.
namespace ttl::postgres {

struct InstalledObject {
  std::string name;        // for people: view public.orders_live
  std::string target;      // as COMMENT ON takes it: VIEW "public"."orders_live"
  std::string definition;  // the statements that make it, without the last semicolon
  std::string comment;     // with the mark, and a fingerprint of the definition
};

// FNV-1a: the same in every build and process.
uint64_t Fingerprint(absl::string_view text);

// The beginning of every comment of ours.
std::string CommentMark(absl::string_view schema);

// The comment of what `definition` makes. Other definitions have other comments.
std::string MarkedComment(absl::string_view schema, absl::string_view purpose,
                          absl::string_view definition);

// A query for all that is marked: position (in which to remove them), object (its oid),
// command (which removes it) and comment.
std::string MarkedObjectsQuery(absl::string_view schema);

// The table as it is once everything is installed: by the name that it has then.
TableDefinition AsInstalled(TableDefinition table);

// The comments of all that can be installed for a table of this name, whatever its configuration,
// each without the fingerprint of a definition.
std::vector<std::string> PurposesFor(absl::string_view table_schema, absl::string_view table,
                                     absl::string_view schema);

// A comment of ours without that fingerprint.
std::string PurposeOf(const std::string& comment);

// "schema"."name" of the view of the live rows. REQUIRES: a name is configured.
std::string LiveViewName(const TableConfig& config);

// The schema of the view. It is made only where there is none of that name. REQUIRES: a view_schema
// is configured.
InstalledObject ViewSchema(const TableDefinition& table, absl::string_view schema);

// The view of the live rows. REQUIRES: a name is configured.
InstalledObject LiveView(const TableDefinition& table, absl::string_view schema);

// The policies that hide expired rows.
std::vector<InstalledObject> HidingPolicies(const TableDefinition& table, absl::string_view schema);

// The policy that shows all rows to all. It stands for "row-level security was off before": it
// is made only then, and row-level security is switched off with it.
InstalledObject ShowingPolicy(const TableDefinition& table, absl::string_view schema);

// The function of the trigger that removes an expired row before an INSERT, then the trigger.
std::vector<InstalledObject> ReplacingTrigger(const TableDefinition& table,
                                              absl::string_view schema);

// A condition: that trigger is there, but does not fire, be it in one partition.
std::string ReplacingTriggerIsOff(const TableDefinition& table);
// The statement that lets it fire again.
std::string EnableReplacingTrigger(const TableDefinition& table);

// All of the above that the configuration of a table asks for, the showing policy and the schema
// of the view included.
std::vector<InstalledObject> InstalledObjects(const TableDefinition& table,
                                              absl::string_view schema);

// The comment of the publication. Its tables are compared one by one instead.
std::string PublicationComment(absl::string_view schema);

// The tables of the publication with their columns, as CREATE PUBLICATION takes them.
std::string PublishedTables(absl::Span<const TableDefinition> tables);

// The body of a function or of DO in dollar quotes that are not in it.
std::string QuoteBody(absl::string_view body);

// "schema"."table".
std::string TableName(const TableDefinition& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLED_OBJECTS_H_
