#include "client/examples/document_store/archiver.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/examples/document_store/document_message.h"
#include "google/protobuf/util/json_util.h"
#include "spdlog/spdlog.h"
#include "ttl/feed_client.h"

namespace documentstore {
namespace {

absl::Status FileError(const std::string& path, int error) {
  return absl::UnavailableError(absl::StrCat(path, ": ", std::generic_category().message(error)));
}

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
  const int file = open(target.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return FileError(target.path, errno);
  return std::unique_ptr<Archiver>(new Archiver(table, client, std::move(target), file));
}

Archiver::Archiver(const DocumentTable& table, ttl::TtlClient& client, Target target, int file)
    : table_(table), client_(client), target_(std::move(target)), file_(file) {
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

Archiver::~Archiver() {
  watcher_.reset();
  close(file_);
}

void Archiver::Take(const ttl::v1::WatchEventsResponse& response) {
  if (has_failed_ || response.events().empty()) return;
  const absl::StatusOr<std::string> lines = LinesOf(response);
  const absl::Status written = lines.ok() ? Append(*lines) : lines.status();
  if (written.ok()) return Acknowledge(response);
  has_failed_ = true;
  spdlog::error("archive ended: reason=\"{}\"", Reason(written));
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
  // The longer the delay of deletes, the fewer of these.
  spdlog::warn("not archived: container=\"{}\" partition_key=\"{}\" id=\"{}\" ts={} reason=\"{}\"",
               absl::CHexEscape(key.container), absl::CHexEscape(key.partition_key),
               absl::CHexEscape(key.id), event.ts(),
               stored->has_value() ? "overwritten" : "deleted already");
  return std::string();
}

absl::Status Archiver::Append(const std::string& lines) {
  size_t done = 0;
  while (done < lines.size()) {
    const ssize_t written = write(file_, lines.data() + done, lines.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError(target_.path, errno);
    done += static_cast<size_t>(written);
  }
  return fdatasync(file_) == 0 ? absl::OkStatus() : FileError(target_.path, errno);
}

void Archiver::Acknowledge(const ttl::v1::WatchEventsResponse& response) {
  const uint64_t last = response.events(response.events_size() - 1).sequence();
  const auto acknowledged =
      client_.feed().Acknowledge(target_.container, target_.subscription, response.epoch(), last);
  if (acknowledged.ok()) return;
  // The events come again, with the next stream or the next start.
  spdlog::warn("archive not acknowledged: sequence={} reason=\"{}\"", last,
               Reason(acknowledged.status()));
}

}  // namespace documentstore
