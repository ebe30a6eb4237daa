#include "client/ttlctl/input/holds_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "nlohmann/json.hpp"

namespace ttl {
namespace {

// The last line that `object` is; absent if it is another line. INVALID_ARGUMENT if it is broken.
absl::StatusOr<std::optional<HoldsFileEnd>> EndOf(const nlohmann::json& object) {
  if (!object.contains("end")) return std::nullopt;
  const nlohmann::json& value = object["end"];
  const auto broken = [] {
    return absl::InvalidArgumentError(
        "must be {\"end\":{\"containers\":[...],\"lines\":N}} with the ids of the containers");
  };
  if (object.size() != 1 || !value.is_object() || value.size() != 2) return broken();
  if (!value.contains("containers") || !value["containers"].is_array()) return broken();
  if (!value.contains("lines") || !value["lines"].is_number_unsigned()) return broken();
  HoldsFileEnd end;
  end.lines = value["lines"].get<int64_t>();
  for (const nlohmann::json& id : value["containers"]) {
    if (!id.is_string()) return broken();
    end.containers.push_back(id.get<std::string>());
  }
  return end;
}

absl::StatusOr<v1::PlaceHoldRequest> RequestOf(absl::string_view line) {
  v1::PlaceHoldRequest request;
  const auto status = google::protobuf::util::JsonStringToMessage(
      {line.data(), line.size()}, &request, google::protobuf::util::JsonParseOptions());
  if (!status.ok()) return absl::InvalidArgumentError(status.message().as_string());
  return request;
}

}  // namespace

absl::StatusOr<std::string> HoldsFileLine(const v1::PlaceHoldRequest& request) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(request, &json, options);
  if (!status.ok()) return absl::InternalError(status.message().as_string());
  return json;
}

std::string HoldsFileLine(const HoldsFileEnd& end) {
  const nlohmann::ordered_json line = {
      {"end", {{"containers", end.containers}, {"lines", end.lines}}}};
  return line.dump();
}

absl::StatusOr<std::optional<v1::PlaceHoldRequest>> HoldsFileReader::Next() {
  while (true) {
    const auto line = lines_.Next();
    if (!line.ok()) return line.status();
    if (!line->has_value()) return std::nullopt;
    const absl::string_view text = **line;
    const auto object =
        nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) return Error("must be a JSON object");
    const auto end = EndOf(object);
    if (!end.ok()) return Error(end.status().message());
    if (!end->has_value()) {
      absl::StatusOr<v1::PlaceHoldRequest> request = RequestOf(text);
      if (!request.ok()) return Error(request.status().message());
      ++lines_since_end_;
      return *std::move(request);
    }
    if (absl::Status taken = TakeEnd(**end); !taken.ok()) return taken;
  }
}

absl::Status HoldsFileReader::TakeEnd(const HoldsFileEnd& end) {
  if (end.lines != lines_since_end_) {
    return Error(absl::StrCat("says that ", end.lines, " lines of holds come before it, but ",
                              lines_since_end_, " do: the file is not as it was exported"));
  }
  containers_.insert(containers_.end(), end.containers.begin(), end.containers.end());
  has_end_ = true;
  lines_since_end_ = 0;
  return absl::OkStatus();
}

absl::Status HoldsFileReader::Error(absl::string_view message) const {
  return absl::InvalidArgumentError(absl::StrCat("line ", line_number(), ": ", message));
}

}  // namespace ttl
