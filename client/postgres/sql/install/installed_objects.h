#ifndef TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLED_OBJECTS_H_
#define TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLED_OBJECTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/install/installed_object.h"
#include "client/postgres/sql/table_definition.h"

// Objects that install creates outside the tables and functions of the schema: views, policies of
// row-level security, triggers and the publication. The comment of each marks it as ours and
// identifies the definition that created it. So the objects can be compared with the expected ones,
// and removed, whatever configuration created them.
namespace ttl::postgres {

// A query of all marked objects: position (order of removal), object (oid), command (removes it)
// and comment.
std::string MarkedObjectsQuery(absl::string_view schema);

// Returns the table with the name that it has once everything is installed.
TableDefinition AsInstalled(TableDefinition table);

// Comments of all objects that any configuration can install for a table of this name, each without
// the fingerprint of a definition.
std::vector<std::string> PurposesFor(absl::string_view table_schema, absl::string_view table,
                                     absl::string_view schema);

// Returns a marked comment without that fingerprint.
std::string PurposeOf(const std::string& comment);

// "schema"."name" of the view of the live rows. REQUIRES: a name is configured.
std::string LiveViewName(const TableConfig& config);

// The schema of the view, which is created only if no schema has that name. REQUIRES: a view_schema
// is configured.
InstalledObject ViewSchema(const TableDefinition& table, absl::string_view schema);

// The view of the live rows. REQUIRES: a name is configured.
InstalledObject LiveView(const TableDefinition& table, absl::string_view schema);

// The policies that hide expired rows.
std::vector<InstalledObject> HidingPolicies(const TableDefinition& table, absl::string_view schema);

// The policy that shows all rows to all roles. It is created only if row-level security was off
// before, and its removal switches row-level security off again.
InstalledObject ShowingPolicy(const TableDefinition& table, absl::string_view schema);

// The function of the trigger that removes an expired row before an INSERT, then the trigger.
std::vector<InstalledObject> ReplacingTrigger(const TableDefinition& table,
                                              absl::string_view schema);

// A condition: that trigger exists but is disabled, on the table or on a partition.
std::string ReplacingTriggerIsOff(const TableDefinition& table);
// The statement that enables the trigger again.
std::string EnableReplacingTrigger(const TableDefinition& table);

// All of the above objects, and those of groups, that the configuration of a table requires,
// including the showing policy and the schema of the view.
std::vector<InstalledObject> InstalledObjects(const TableDefinition& table,
                                              absl::string_view schema);

// Comment of the publication. It has no fingerprint, since the tables are compared one by one.
std::string PublicationComment(absl::string_view schema);

// Tables of the publication with their columns, in the syntax of CREATE PUBLICATION.
std::string PublishedTables(absl::Span<const TableDefinition> tables);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLED_OBJECTS_H_
