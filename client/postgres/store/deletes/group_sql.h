#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_GROUP_SQL_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_GROUP_SQL_H_

#include <string>
#include <vector>

#include "client/postgres/sql/table_definition.h"
#include "client/postgres/store/deletes/delete_sql.h"

namespace ttl::postgres {

// The statements that delete groups, in this order and one transaction, all with
// DeleteSql::StateParameters(). Each statement sees what has committed before it: a group is judged
// only after it is locked, since nobody else writes a row of it from then on. Immutable.
class GroupSql {
 public:
  // `table` is the first table of the groups, and `sql` has its statements for items.
  GroupSql(const TableDefinition& table, const DeleteSql& sql);

  // Locks the tables, so that their triggers stay as they are. Without parameters.
  const std::string& lock_tables() const { return lock_tables_; }
  // Why writers might not lock their groups, or the tables are others than the checked ones; NULL:
  // all is well. Without parameters. Run it with the system's search path.
  const std::string& why_unguarded() const { return why_unguarded_; }
  // Locks groups that no transaction writes. Column: n, of the locked ones.
  const std::string& lock_groups() const { return lock_groups_; }
  // Locks one group, and waits for that: writers that come later wait behind it. Column: n.
  // REQUIRES: one item, and that the transaction has no other lock of a group, for which a writer
  // may wait.
  const std::string& await_group() const { return await_group_; }
  // DeleteSql::judge_statement(). Column: n.
  const std::string& judge() const { return judge_; }
  // Returns those of the groups that are condemned. Columns: n, and why the last piece could not be
  // deleted. The statements of condemnation are empty without an own_schema.
  const std::string& entries() const { return entries_; }
  // The foreign keys of tables of the groups that refer to the table itself. Run it with the
  // system's search path.
  const std::string& keys_to_itself() const { return keys_to_itself_; }
  // Whether a table has policies for its expired rows. PostgreSQL also applies them to rows that
  // are not written yet, of which nobody can tell whether they are condemned: such groups are not.
  bool is_under_row_security() const { return is_under_row_security_; }
  // Condemns the groups, which are locked and judged, unless an open transaction is older than one
  // of their rows. Column: n, of those that it has condemned.
  const std::string& condemn() const { return condemn_; }
  // Each deletes the rows of one table, in the order of the foreign keys. Column: the number of
  // rows.
  const std::vector<std::string>& deletes() const { return deletes_; }
  // Returns which groups still have a row in one of the tables. Column: n.
  const std::string& remains() const { return remains_; }

 private:
  void SetCondemning(const TableDefinition& table, const DeleteSql& sql);

  std::string lock_tables_;
  std::string why_unguarded_;
  std::string lock_groups_;
  std::string await_group_;
  std::string judge_;
  std::string entries_;
  std::string keys_to_itself_;
  bool is_under_row_security_ = false;
  std::string condemn_;
  std::vector<std::string> deletes_;
  std::string remains_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_GROUP_SQL_H_
