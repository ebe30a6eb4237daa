#include "client/postgres/capture/stream/pgoutput.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/capture/stream/wire_cursor.h"

namespace ttl::postgres {
namespace {

// Parses one message. Records the first violation of the format; the rest is then meaningless.
class Parser {
 public:
  explicit Parser(absl::string_view bytes) : cursor_(bytes) {}

  absl::StatusOr<PgoutputMessage> Parse() {
    const char type = cursor_.TakeByte();
    PgoutputMessage message = ParseOf(type);
    if (!cursor_.ok()) Refuse("ends too early");
    if (cursor_.left() > 0) Refuse(absl::StrCat("has ", cursor_.left(), " bytes too many"));
    if (problem_.empty()) return message;
    return absl::DataLossError(absl::StrCat(
        "a message '", absl::CHexEscape(absl::string_view(&type, 1)), "' of pgoutput ", problem_));
  }

 private:
  void Refuse(absl::string_view problem) {
    if (problem_.empty()) problem_ = std::string(problem);
  }

  PgoutputMessage ParseOf(char type) {
    switch (type) {
      case 'B':
        return Begin();
      case 'C':
        return Commit();
      case 'O':
        return OriginMessage{.commit_lsn = cursor_.TakeInt64(), .name = cursor_.TakeText()};
      case 'R':
        return Relation();
      case 'Y':
        return Type();
      case 'I':
        return Insert();
      case 'U':
        return Update();
      case 'D':
        return Delete();
      case 'T':
        return Truncate();
      case 'M':
        return Message();
      default:
        Refuse("is of no type known to version 1");
        return PgoutputMessage();
    }
  }

  BeginMessage Begin() {
    BeginMessage begin;
    begin.final_lsn = cursor_.TakeInt64();
    begin.commit_time = cursor_.TakeTime();
    begin.xid = cursor_.TakeInt32();
    return begin;
  }

  CommitMessage Commit() {
    CommitMessage commit;
    cursor_.TakeByte();  // flags, unused
    commit.commit_lsn = cursor_.TakeInt64();
    commit.end_lsn = cursor_.TakeInt64();
    commit.commit_time = cursor_.TakeTime();
    return commit;
  }

  RelationMessage Relation() {
    RelationMessage relation;
    relation.oid = cursor_.TakeInt32();
    relation.schema = cursor_.TakeText();
    relation.table = cursor_.TakeText();
    relation.replica_identity = cursor_.TakeByte();
    const size_t columns = TakeCount(cursor_.TakeInt16(), /*least=*/10);
    relation.columns.reserve(columns);
    for (size_t i = 0; i < columns && cursor_.ok(); ++i) relation.columns.push_back(Column());
    return relation;
  }

  RelationMessage::Column Column() {
    RelationMessage::Column column;
    column.is_identity = (cursor_.TakeByte() & 1) != 0;
    column.name = cursor_.TakeText();
    column.type_oid = cursor_.TakeInt32();
    column.type_modifier = static_cast<int32_t>(cursor_.TakeInt32());
    return column;
  }

  TypeMessage Type() {
    TypeMessage type;
    type.oid = cursor_.TakeInt32();
    type.schema = cursor_.TakeText();
    type.name = cursor_.TakeText();
    return type;
  }

  InsertMessage Insert() {
    InsertMessage insert;
    insert.relation = cursor_.TakeInt32();
    if (cursor_.TakeByte() != 'N') Refuse("has no new row");
    insert.row = Row();
    return insert;
  }

  UpdateMessage Update() {
    UpdateMessage update;
    update.relation = cursor_.TakeInt32();
    char part = cursor_.TakeByte();
    if (part == 'K' || part == 'O') {
      update.old_row = Row();
      part = cursor_.TakeByte();
    }
    if (part != 'N') Refuse("has no new row");
    update.row = Row();
    return update;
  }

  DeleteMessage Delete() {
    DeleteMessage deleted;
    deleted.relation = cursor_.TakeInt32();
    const char part = cursor_.TakeByte();
    if (part != 'K' && part != 'O') Refuse("has no old row");
    deleted.old_row = Row();
    return deleted;
  }

  TruncateMessage Truncate() {
    TruncateMessage truncate;
    const size_t relations = TakeCount(cursor_.TakeInt32(), /*least=*/4);
    cursor_.TakeByte();  // flags for CASCADE and RESTART IDENTITY, irrelevant here
    truncate.relations.reserve(relations);
    for (size_t i = 0; i < relations; ++i) truncate.relations.push_back(cursor_.TakeInt32());
    return truncate;
  }

  LogicalMessage Message() {
    LogicalMessage message;
    message.is_transactional = (cursor_.TakeByte() & 1) != 0;
    message.lsn = cursor_.TakeInt64();
    message.prefix = cursor_.TakeText();
    message.content = cursor_.TakeBytes(cursor_.TakeInt32());
    return message;
  }

  Tuple Row() {
    Tuple row;
    const size_t columns = TakeCount(cursor_.TakeInt16(), /*least=*/1);
    row.reserve(columns);
    for (size_t i = 0; i < columns && cursor_.ok(); ++i) row.push_back(Value());
    return row;
  }

  ColumnValue Value() {
    const char kind = cursor_.TakeByte();
    switch (kind) {
      case 'n':
        return {ColumnValue::Kind::kNull, {}};
      case 'u':
        return {ColumnValue::Kind::kUnchanged, {}};
      case 't':
        return {ColumnValue::Kind::kText, cursor_.TakeBytes(cursor_.TakeInt32())};
      default:
        Refuse(absl::StrCat("has a value of kind '", absl::CHexEscape(absl::string_view(&kind, 1)),
                            "'"));
        return {};
    }
  }

  // Checks a count of elements of at least `least` bytes each, so that an invalid count does not
  // allocate memory.
  size_t TakeCount(size_t count, size_t least) {
    if (count * least <= cursor_.left()) return count;
    Refuse("ends too early");
    return 0;
  }

  WireCursor cursor_;
  std::string problem_;
};

}  // namespace

absl::StatusOr<PgoutputMessage> ParsePgoutput(absl::string_view bytes) {
  if (bytes.empty()) return absl::DataLossError("a message of pgoutput has no bytes");
  return Parser(bytes).Parse();
}

}  // namespace ttl::postgres
