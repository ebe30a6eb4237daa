// Messages of logical replication: what a server of PostgreSQL sends, and what it comes to.

#include <variant>

#include "client/postgres/capture/stream/pgoutput.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl::postgres {
namespace {

// Whether all of it lies inside the bytes that were parsed.
class Bounds {
 public:
  explicit Bounds(absl::string_view bytes) : bytes_(bytes) {}

  void Check(absl::string_view view) const {
    if (view.empty()) return;
    Require(view.data() >= bytes_.data() && view.end() <= bytes_.end(), "a view of the message");
  }
  void Check(const Tuple& row) const {
    for (const ColumnValue& value : row) {
      Require(value.kind == ColumnValue::Kind::kText || value.text.empty(), "a text or none");
      Check(value.text);
    }
    Require(row.size() < bytes_.size(), "no more columns than bytes");
  }

  void operator()(const BeginMessage&) const {}
  void operator()(const CommitMessage&) const {}
  void operator()(const OriginMessage& message) const { Check(message.name); }
  void operator()(const RelationMessage& message) const {
    Check(message.schema);
    Check(message.table);
    for (const RelationMessage::Column& column : message.columns) Check(column.name);
  }
  void operator()(const TypeMessage& message) const { Check(message.name); }
  void operator()(const InsertMessage& message) const { Check(message.row); }
  void operator()(const UpdateMessage& message) const {
    if (message.old_row.has_value()) Check(*message.old_row);
    Check(message.row);
  }
  void operator()(const DeleteMessage& message) const { Check(message.old_row); }
  void operator()(const TruncateMessage& message) const {
    Require(message.relations.size() * 4 < bytes_.size(), "no more tables than bytes");
  }
  void operator()(const LogicalMessage& message) const {
    Check(message.prefix);
    Check(message.content);
  }

 private:
  const absl::string_view bytes_;
};

void Read(absl::string_view bytes) {
  const auto message = ParsePgoutput(bytes);
  if (!message.ok()) {
    Require(absl::IsDataLoss(message.status()), "refused as what it is");
    return;
  }
  std::visit(Bounds(bytes), *message);
  // It has no byte too many, so none can be missing.
  Require(!ParsePgoutput(bytes.substr(0, bytes.size() - 1)).ok(), "nothing left out");
}

}  // namespace
}  // namespace ttl::postgres

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ttl::postgres::Read(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
