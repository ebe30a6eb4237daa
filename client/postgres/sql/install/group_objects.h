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
std::string TellsWhetherCondemned(const std::string& table);
std::string LocksGroup(const std::string& table);

// The function that tells whether a group has a live row, with the rights of the tables' owner: a
// reader of one table may lack the right to read the others. REQUIRES: the first table of a group.
InstalledObject GroupIsLive(const TableDefinition& table, absl::string_view schema);

// The function that tells whether a row is condemned, with the same rights. REQUIRES: the first
// table of a group.
InstalledObject IsCondemned(const TableDefinition& table, absl::string_view schema);

// Both if the table is the first of a group, otherwise none. Views and policies depend on them, so
// they are replaced, and dropped only after they are no longer called.
std::vector<InstalledObject> ReadersFunctions(const TableDefinition& table,
                                              absl::string_view schema);

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

// The statement that lets the functions read the condemned groups, in a block with the variable
// `owner`, that of the table.
std::string GrantCondemned(absl::string_view schema);
std::string EnableLockingTrigger(const TableDefinition& table);

// Whether `comment`, SQL, is that of one of ReadersFunctions().
std::string IsOfReadersFunction(absl::string_view comment, absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_INSTALL_GROUP_OBJECTS_H_
