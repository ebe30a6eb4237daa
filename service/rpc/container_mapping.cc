#include "service/rpc/container_mapping.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/core/status_macros.h"
#include "service/rpc/proto_time.h"
#include "service/rpc/quoted.h"

namespace ttl {
namespace {

IndexingMode ReadIndexingMode(const v1::Container& container) {
  if (container.indexing_mode() == v1::INDEXING_MODE_UNSPECIFIED) return IndexingMode::kConsistent;
  return static_cast<IndexingMode>(container.indexing_mode());
}

std::optional<int64_t> ReadDefaultTtl(const v1::Container& container) {
  if (!container.has_default_ttl()) return std::nullopt;
  return container.default_ttl();
}

std::optional<double> ReadMaxDeletesPerSecond(const v1::DeletePolicy& policy) {
  if (!policy.has_max_deletes_per_second()) return std::nullopt;
  return policy.max_deletes_per_second();
}

absl::StatusOr<int64_t> ReadDelaySeconds(const v1::DeletePolicy& policy) {
  if (policy.delay().nanos() == 0) return policy.delay().seconds();
  return absl::InvalidArgumentError(absl::StrCat(
      "delete_policy.delay is ", policy.delay().seconds(), " s and ", policy.delay().nanos(),
      " ns: must be whole seconds, 0 to ", kMaxDelaySeconds, " s"));
}

// Which fields a mask names.
struct NamedFields {
  bool default_ttl = false;
  bool indexing_mode = false;
  bool max_deletes_per_second = false;
  bool delay = false;
};

constexpr absl::string_view kAllowedPaths =
    "default_ttl, indexing_mode, delete_policy, delete_policy.max_deletes_per_second, "
    "delete_policy.delay, or \"*\" for all of them";

absl::Status AddPath(absl::string_view path, NamedFields& named) {
  const bool all = path == "*";
  const bool policy = all || path == "delete_policy";
  const bool default_ttl = all || path == "default_ttl";
  const bool indexing_mode = all || path == "indexing_mode";
  const bool max_deletes = policy || path == "delete_policy.max_deletes_per_second";
  const bool delay = policy || path == "delete_policy.delay";
  if (!default_ttl && !indexing_mode && !max_deletes && !delay) {
    return absl::InvalidArgumentError(
        absl::StrCat("update_mask names ", Quoted(path), ": allowed are ", kAllowedPaths));
  }
  named.default_ttl |= default_ttl;
  named.indexing_mode |= indexing_mode;
  named.max_deletes_per_second |= max_deletes;
  named.delay |= delay;
  return absl::OkStatus();
}

absl::StatusOr<NamedFields> ReadMask(const google::protobuf::FieldMask& mask) {
  if (mask.paths().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("update_mask is empty: name what to change: ", kAllowedPaths));
  }
  NamedFields named;
  for (const std::string& path : mask.paths()) TTL_RETURN_IF_ERROR(AddPath(path, named));
  return named;
}

}  // namespace

v1::IndexProgress IndexProgressOf(const Container& container) {
  v1::IndexProgress progress;
  if (container.index_build.has_value()) {
    progress.set_state(v1::INDEX_STATE_BUILDING);
    progress.set_percent(container.index_build->percent);
    progress.set_items_indexed(container.index_build->items_indexed);
  } else if (container.index_number == 0) {
    progress.set_state(v1::INDEX_STATE_NONE);
  } else {
    progress.set_state(v1::INDEX_STATE_READY);
    progress.set_percent(100);
  }
  return progress;
}

v1::Container ToProto(const Container& container) {
  const ContainerSettings& settings = container.settings;
  v1::Container proto;
  proto.set_id(container.id);
  if (settings.policy.default_ttl.has_value()) {
    proto.set_default_ttl(*settings.policy.default_ttl);
  }
  proto.set_indexing_mode(static_cast<v1::IndexingMode>(settings.indexing_mode));
  if (settings.max_deletes_per_second.has_value()) {
    proto.mutable_delete_policy()->set_max_deletes_per_second(*settings.max_deletes_per_second);
  }
  if (settings.policy.delay_seconds != 0) {
    *proto.mutable_delete_policy()->mutable_delay() =
        ToProto(absl::Seconds(settings.policy.delay_seconds));
  }
  proto.set_etag(ContainerEtag(container));
  *proto.mutable_create_time() = ToProto(container.create_time);
  *proto.mutable_update_time() = ToProto(container.update_time);
  *proto.mutable_index_progress() = IndexProgressOf(container);
  return proto;
}

absl::StatusOr<ContainerSettings> ReadSettings(const v1::Container& container) {
  ContainerSettings settings;
  settings.policy.default_ttl = ReadDefaultTtl(container);
  TTL_ASSIGN_OR_RETURN(settings.policy.delay_seconds, ReadDelaySeconds(container.delete_policy()));
  settings.indexing_mode = ReadIndexingMode(container);
  settings.max_deletes_per_second = ReadMaxDeletesPerSecond(container.delete_policy());
  return settings;
}

absl::StatusOr<ContainerUpdate> ReadUpdate(const v1::UpdateContainerRequest& request) {
  TTL_ASSIGN_OR_RETURN(const NamedFields named, ReadMask(request.update_mask()));
  const v1::Container& container = request.container();
  ContainerUpdate update;
  update.etag = container.etag();
  if (named.default_ttl) update.default_ttl = ReadDefaultTtl(container);
  if (named.indexing_mode) update.indexing_mode = ReadIndexingMode(container);
  if (named.max_deletes_per_second) {
    update.max_deletes_per_second = ReadMaxDeletesPerSecond(container.delete_policy());
  }
  if (named.delay) {
    TTL_ASSIGN_OR_RETURN(update.delay_seconds, ReadDelaySeconds(container.delete_policy()));
  }
  return update;
}

absl::StatusOr<ContainerSettings> ApplyUpdate(const ContainerUpdate& update,
                                              const Container& present) {
  const std::string etag = ContainerEtag(present);
  if (!update.etag.empty() && update.etag != etag) {
    return absl::AbortedError(absl::StrCat("container.etag is ", Quoted(update.etag),
                                           " and the current one is ", Quoted(etag),
                                           ": read the container again"));
  }
  ContainerSettings settings = present.settings;
  if (update.default_ttl.has_value()) settings.policy.default_ttl = *update.default_ttl;
  if (update.indexing_mode.has_value()) settings.indexing_mode = *update.indexing_mode;
  if (update.max_deletes_per_second.has_value()) {
    settings.max_deletes_per_second = *update.max_deletes_per_second;
  }
  if (update.delay_seconds.has_value()) settings.policy.delay_seconds = *update.delay_seconds;
  return settings;
}

std::string Describe(const ContainerSettings& settings) {
  const auto& default_ttl = settings.policy.default_ttl;
  const auto& rate = settings.max_deletes_per_second;
  return absl::StrCat(
      "{default_ttl=", default_ttl.has_value() ? absl::StrCat(*default_ttl) : "absent",
      " indexing_mode=",
      v1::IndexingMode_Name(static_cast<v1::IndexingMode>(settings.indexing_mode)),
      " max_deletes_per_second=", rate.has_value() ? absl::StrCat(*rate) : "absent",
      " delay_seconds=", settings.policy.delay_seconds, "}");
}

}  // namespace ttl
