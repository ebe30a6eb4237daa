#ifndef TTL_TESTS_POSTGRES_CAPTURE_FOR_TEST_H_
#define TTL_TESTS_POSTGRES_CAPTURE_FOR_TEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/capture/capture.h"
#include "client/postgres/config/config.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"
#include "grpcpp/channel.h"
#include "tests/testing/postgres_server.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::postgres {

// A database of its own with a capture into a sidecar. For one thread.
class CaptureForTest {
 public:
  // Both must outlive it, though they may go and come back.
  CaptureForTest(PostgresServer& server, std::string sidecar_address);
  // Ends the capture, and drops the slot if the server runs: there are few.
  ~CaptureForTest();
  CaptureForTest(const CaptureForTest&) = delete;
  CaptureForTest& operator=(const CaptureForTest&) = delete;

  QueryResult Sql(const std::string& statements) { return server_.Sql(statements, name_); }
  std::string Value(const std::string& query) { return server_.Value(query, name_); }
  std::unique_ptr<Connection> Connect() const { return server_.Connect(name_); }
  const std::string& name() const { return name_; }
  Config& config() { return config_; }
  CaptureOptions& options() { return options_; }

  // Holds the configuration against the database and installs; the test has failed if
  // there is a problem.
  void Install(std::vector<TableConfig> tables);
  // What Install() found.
  const std::vector<TableDefinition>& tables() const { return tables_; }
  // As the sidecar knows it; default_ttl absent.
  void CreateContainer(const std::string& id);
  void DeleteContainer(const std::string& id);
  void Track(const std::string& container, const std::string& id, int64_t ts, uint64_t sequence);

  // Install(), containers and Start().
  void Begin(std::vector<TableConfig> tables);

  // A capture starts, or ends without any last word.
  void Start();
  void Stop() { capture_.reset(); }

  CaptureStatus status() const { return capture_->status(); }
  VisiblePosition& visible() { return *visible_; }

  // Until changes are streaming. Before that a capture may have to begin again, as when the first
  // answer of the sidecar takes too long.
  bool WaitForStream();
  // Until everything that has committed by now is durable in the sidecar and all tables are
  // read; status() is then no older than the call. False, and the test has failed with what the
  // capture says, if that takes too long.
  bool CatchUp(absl::Duration deadline = absl::Seconds(60));
  // Until the problem has this text in it.
  bool WaitForProblem(absl::string_view text, absl::Duration deadline = absl::Seconds(60));
  // Until the slot was confirmed up to now.
  bool WaitForConfirmed();

  // All that is tracked, sorted: "partition key|id|ts|ttl".
  std::vector<std::string> Tracked(const std::string& container);
  std::vector<v1::Item> Items(const std::string& container);
  // What a query says should be: partition key, id, ts, ttl.
  std::vector<std::string> Rows(const std::string& query);

  static std::string Line(absl::string_view partition_key, absl::string_view id,
                          absl::string_view ts, absl::string_view ttl);

 private:
  PostgresServer& server_;
  std::string name_;
  Config config_;
  CaptureOptions options_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ContainerService::Stub> containers_;
  std::unique_ptr<v1::ItemService::Stub> items_;
  std::vector<TableDefinition> tables_;
  std::unique_ptr<VisiblePosition> visible_;
  std::unique_ptr<Capture> capture_;
};

// The usual table: sessions(id bigint, note text, ts timestamptz, ttl integer), keyed by id,
// container "sessions", and what is to be tracked of it.
extern const char kCreateSessions[];
extern const char kSessionRows[];
TableConfig Sessions();

}  // namespace ttl::postgres

#endif  // TTL_TESTS_POSTGRES_CAPTURE_FOR_TEST_H_
