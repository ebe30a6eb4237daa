#include "client/examples/document_store/archiver.h"

#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/examples/document_store/document_message.h"
#include "google/protobuf/util/json_util.h"
#include "spdlog/spdlog.h"
#include "ttl/feed_client.h"

namespace documentstore {
namespace {

std::string Reason(const absl::Status& status) {
  return absl::CHexEscape(status.ToString(absl::StatusToStringMode::kWithNoExtraData));
}

absl::StatusOr<std::string> ToJsonLine(const v1::Document& document) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  if (!google::protobuf::util::MessageToJsonString(document, &line, options).ok()) {
    return absl::InternalError("a document cannot be written as JSON");
  }
  return line + "\n";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Archiver>> Archiver::Start(const DocumentTable& table,
                                                          ttl::TtlClient& client, Target target) {
  auto file = ArchiveFile::Open(target.path);
  if (!file.ok()) return file.status();
  return std::unique_ptr<Archiver>(
      new Archiver(table, client, std::move(target), *std::move(file)));
}

Archiver::Archiver(const DocumentTable& table, ttl::TtlClient& client, Target target,
                   std::unique_ptr<ArchiveFile> file)
    : table_(table), client_(client), target_(std::move(target)), file_(std::move(file)) {
  ttl::v1::WatchEventsRequest request;
  request.mutable_subscription()->set_container(target_.container);
  request.mutable_subscription()->set_name(target_.subscription);
  watcher_ = client_.feed().Watch(
      request, {.on_response = [this](const auto& response) { Take(response); },
                .on_break =
                    [](const absl::Status& status) {
                      spdlog::info("archive waits: reason=\"{}\"", Reason(status));
                    },
                .on_failure =
                    [](const absl::Status& status) {
                      spdlog::error("archive ended: reason=\"{}\"", Reason(status));
                    }});
}

Archiver::~Archiver() = default;

void Archiver::Take(const ttl::v1::WatchEventsResponse& response) {
  if (!has_checked_gate_) CheckGate();
  if (has_failed_) return;
  if (!response.events().empty()) {
    const absl::StatusOr<std::string> lines = LinesOf(response);
    const absl::Status written = lines.ok() ? file_->Append(*lines) : lines.status();
    if (!written.ok()) {
      has_failed_ = true;
      spdlog::error("archive ended: reason=\"{}\"", Reason(written));
      return;
    }
    on_disk_ = {response.epoch(), response.events().rbegin()->sequence()};
  }
  // Also with a heartbeat, because deletes wait for it.
  Acknowledge();
}

void Archiver::CheckGate() {
  const auto subscription = client_.feed().GetSubscription(target_.container, target_.subscription);
  if (!subscription.ok()) return;
  has_checked_gate_ = true;
  if (subscription->gate()) return;
  spdlog::warn(
      "archive may miss documents: reason=\"deletes do not wait for the subscription, which is no "
      "gate\" container=\"{}\" subscription=\"{}\"",
      absl::CHexEscape(target_.container), absl::CHexEscape(target_.subscription));
}

absl::StatusOr<std::string> Archiver::LinesOf(const ttl::v1::WatchEventsResponse& response) const {
  std::string lines;
  for (const ttl::v1::Event& event : response.events()) {
    if (event.kind() != ttl::v1::EVENT_KIND_EXPIRED) continue;
    const absl::StatusOr<std::string> line = LineOf(event);
    if (!line.ok()) return line.status();
    absl::StrAppend(&lines, *line);
  }
  return lines;
}

absl::StatusOr<std::string> Archiver::LineOf(const ttl::v1::Event& event) const {
  const DocumentKey key = {event.container(), event.partition_key(), event.id()};
  const absl::StatusOr<std::optional<DocumentRecord>> stored = table_.Get(key);
  if (!stored.ok()) return stored.status();
  if (stored->has_value() && (*stored)->ts() == event.ts()) {
    return ToJsonLine(ToDocument(key, **stored));
  }
  // A gate holds back the sidecar's deletes, not those of the store's clients.
  spdlog::warn("not archived: container=\"{}\" partition_key=\"{}\" id=\"{}\" ts={} reason=\"{}\"",
               absl::CHexEscape(key.container), absl::CHexEscape(key.partition_key),
               absl::CHexEscape(key.id), event.ts(),
               stored->has_value() ? "overwritten" : "deleted already");
  return std::string();
}

void Archiver::Acknowledge() {
  if (!on_disk_.has_value()) return;
  const absl::Status status =
      client_.feed()
          .Acknowledge(target_.container, target_.subscription, on_disk_->epoch, on_disk_->sequence)
          .status();
  if (!status.ok() && !on_disk_->was_refused) {
    on_disk_->was_refused = true;
    spdlog::warn("archive not acknowledged: sequence={} reason=\"{}\"", on_disk_->sequence,
                 Reason(status));
  }
  // If the sidecar has restarted, the events come again, to be acknowledged then.
  if (status.ok() || absl::IsOutOfRange(status)) on_disk_.reset();
}

}  // namespace documentstore
