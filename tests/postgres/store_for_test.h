#ifndef TTL_TESTS_POSTGRES_STORE_FOR_TEST_H_
#define TTL_TESTS_POSTGRES_STORE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/table_definition.h"
#include "client/postgres/store/primary_store.h"
#include "tests/testing/postgres_server.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// The PostgreSQL that all tests of the executable share, running. Those that kill one have
// their own.
PostgresServer& SharedServer();

// A database of its own, and a store on tables of it. Statements of the store's have more time
// than in earnest, so that a machine that stalls ends none: tests of that limit set their own.
class StoreForTest {
 public:
  explicit StoreForTest(PostgresServer& server = SharedServer());

  // The definition of a table that is there, without a check whether it can be a container.
  TableDefinition Describe(const TableConfig& config);

  // Makes the store, after the last change of config().
  PrimaryStore& Open(
      const std::vector<TableConfig>& tables,
      PrimaryStore::YieldRule yield_rule = [] { return std::nullopt; });

  // The same of tables that CheckCatalog() has found.
  PrimaryStore& OpenDefined(const std::vector<TableDefinition>& definitions);

  // Up to which LSN the sidecar knows all commits, from the next Open() on; by default however far.
  void set_reported(PrimaryStore::ReportedRule reported) { reported_ = std::move(reported); }

  Config& config() { return config_; }
  VisiblePosition& position() { return position_; }
  // All up to there is known to the sidecar, and seen by every snapshot.
  void ShowPosition(uint64_t lsn);
  PrimaryStore& store() { return *store_; }

  QueryResult Sql(const std::string& statements) { return server_.Sql(statements, name_); }
  std::string Value(const std::string& query) { return server_.Value(query, name_); }
  std::unique_ptr<Connection> Connect() { return server_.Connect(name_); }
  const std::string& name() const { return name_; }

  // Makes the usual table with rows 1 to `rows`, long past, without ttl.
  void FillSessions(int rows);

  // All items of the container, by ScanItems.
  std::vector<v1::Item> Items(const std::string& container);

  // The items as they would be judged with that default_ttl, in a request.
  static v1::DeleteItemsRequest Judged(const std::string& container,
                                       const std::vector<v1::Item>& items,
                                       int64_t default_ttl = 60);

  // So long may a call take: its deadline, and not_after, for a machine that stalls.
  static constexpr absl::Duration kPatience = absl::Minutes(1);

  // What DeleteItems answers within kPatience.
  v1::DeleteItemsResponse Delete(const v1::DeleteItemsRequest& request);
  // All items of the container are judged and deleted.
  v1::DeleteItemsResponse DeleteAll(const std::string& container, int64_t default_ttl = 60);

 private:
  PostgresServer& server_;
  std::string name_;
  Config config_;
  VisiblePosition position_;
  PrimaryStore::ReportedRule reported_ = [] { return std::numeric_limits<uint64_t>::max(); };
  std::unique_ptr<PrimaryStore> store_;
};

// The outcomes in short: "DELETED NOT_FOUND".
std::string Outcomes(const v1::DeleteItemsResponse& response);

// The usual table: sessions(id, payload, ts timestamptz, ttl integer), keyed by id.
extern const char kSessions[];
TableConfig Sessions();

}  // namespace ttl::postgres

#endif  // TTL_TESTS_POSTGRES_STORE_FOR_TEST_H_
