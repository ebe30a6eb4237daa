#ifndef TTL_CLIENT_POSTGRES_SQL_INSTALL_GROUP_OBJECTS_H_
#define TTL_CLIENT_POSTGRES_SQL_INSTALL_GROUP_OBJECTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/postgres/sql/install/installed_object.h"
#include "client/postgres/sql/table_definition.h"

// The installed objects of tables with group_by, see sql/group.h.
namespace ttl::postgres {

// Purposes in the comments of these objects, by the plain name of the table: schema.table.
std::string TellsWhetherLive(const std::string& table);
std::string LocksGroup(const std::string& table);

// The function that tells whether a group has a live row, with the rights of the tables' owner: a
// reader of one table may lack the right to read the others. REQUIRES: the first table of a group.
InstalledObject GroupIsLive(const TableDefinition& table, absl::string_view schema);

// The function of the trigger that locks the group of each written row, then the trigger, which
// fires whatever session_replication_role is.
std::vector<InstalledObject> LockingTrigger(const TableDefinition& table, absl::string_view schema);

// A condition: the table has the locking trigger, as installed for this group, and it always fires.
// A trigger of another configuration takes other locks. Run it with the system's search path.
std::string LockingTriggerIsOn(const TableDefinition& table);

// A query of the names of the triggers that may change the group of a written row after it was
// locked. Run it with the system's search path.
std::string TriggersAfterLocking(const TableDefinition& table);

// All of the above that the table has.
std::vector<InstalledObject> GroupObjects(const TableDefinition& table, absl::string_view schema);

// The statements that install them. `give` makes the owner of the table the owner of the function
// of the condition, in a block with the variable `owner`.
std::string GroupIsLiveSql(const TableDefinition& table, absl::string_view schema,
                           absl::string_view give);
std::string EnableLockingTrigger(const TableDefinition& table);

// Whether `comment`, SQL, is that of a function of GroupIsLive(). Views and policies depend on it,
// so it is replaced, and dropped only after they no longer call it.
std::string IsOfGroupIsLive(absl::string_view comment, absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_INSTALL_GROUP_OBJECTS_H_
