#include "service/server/config/access_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/base/quoted.h"
#include "service/base/small_file.h"
#include "service/base/status_macros.h"
#include "service/yaml/yaml_document.h"

namespace ttl {
namespace {

constexpr size_t kMaxAccessFileBytes = size_t{64} << 20;
constexpr char kRightIdentity[] =
    "one of uri, dns and cn, and roles, a list of store, reader, consumer and admin";
constexpr size_t kMaxShownBytes = 256;

absl::Status Refused(const std::string& file, const YAML::Node& node, absl::string_view problem) {
  // An empty document has no line.
  const int line = std::max(node.Mark().line, 0) + 1;
  return absl::InvalidArgumentError(absl::StrCat(file, ":", line, ": ", problem));
}

absl::StatusOr<Roles> ReadRoles(const std::string& file, const YAML::Node& node) {
  Roles roles;
  if (node.IsSequence()) {
    for (const YAML::Node& name : node) {
      const std::string text = name.IsScalar() ? name.Scalar() : "";
      const std::optional<Role> role = ParseRole(text);
      if (!role.has_value()) {
        return Refused(file, name,
                       absl::StrCat("roles: ", Quoted(text, kMaxShownBytes),
                                    " is not allowed; give store, reader, consumer or admin"));
      }
      roles.Add({*role});
    }
  }
  if (roles.empty()) return Refused(file, node, absl::StrCat("roles: give ", kRightIdentity));
  return roles;
}

IdentityRoles::Map* MapOf(absl::string_view kind, IdentityRoles& roles) {
  if (kind == "uri") return &roles.uri;
  if (kind == "dns") return &roles.dns;
  return kind == "cn" ? &roles.common_name : nullptr;
}

// One parsed entry.
struct Entry {
  IdentityRoles::Map* map = nullptr;
  std::string name;
  std::optional<Roles> roles;
};

absl::Status ReadKey(const std::string& file, const YAML::Node& key, const YAML::Node& value,
                     IdentityRoles& all, Entry& entry) {
  const std::string text = key.IsScalar() ? key.Scalar() : "";
  if (text == "roles") {
    if (entry.roles.has_value()) return Refused(file, key, "roles is given twice");
    TTL_ASSIGN_OR_RETURN(entry.roles, ReadRoles(file, value));
    return absl::OkStatus();
  }
  IdentityRoles::Map* const map = MapOf(text, all);
  if (map == nullptr || entry.map != nullptr || !value.IsScalar() || value.Scalar().empty()) {
    return Refused(file, key,
                   absl::StrCat("identities: ", Quoted(text, kMaxShownBytes),
                                " is not allowed here; give ", kRightIdentity));
  }
  entry.map = map;
  entry.name = value.Scalar();
  return absl::OkStatus();
}

absl::Status ReadIdentity(const std::string& file, const YAML::Node& node, IdentityRoles& all) {
  Entry entry;
  if (node.IsMap()) {
    for (const auto& member : node) {
      TTL_RETURN_IF_ERROR(ReadKey(file, member.first, member.second, all, entry));
    }
  }
  if (entry.map == nullptr || !entry.roles.has_value()) {
    return Refused(file, node, absl::StrCat("identities: give ", kRightIdentity));
  }
  if (entry.map->emplace(entry.name, *entry.roles).second) return absl::OkStatus();
  return Refused(
      file, node,
      absl::StrCat("identities: ", Quoted(entry.name, kMaxShownBytes), " is given twice"));
}

absl::StatusOr<IdentityRoles> ReadDocument(const std::string& file, const YAML::Node& root) {
  IdentityRoles roles;
  if (!root.IsMap()) return Refused(file, root, "give a mapping with the key identities");
  for (const auto& member : root) {
    const std::string key = member.first.IsScalar() ? member.first.Scalar() : "";
    if (key != "identities" || !member.second.IsSequence()) {
      return Refused(
          file, member.first,
          absl::StrCat(Quoted(key, kMaxShownBytes), " is not allowed; give identities, a list"));
    }
    for (const YAML::Node& node : member.second) {
      TTL_RETURN_IF_ERROR(ReadIdentity(file, node, roles));
    }
  }
  return roles;
}

}  // namespace

absl::StatusOr<IdentityRoles> ParseAccess(const std::string& file_name, const std::string& text) {
  IdentityRoles roles;
  TTL_RETURN_IF_ERROR(ReadYamlDocument(
      text, absl::StrCat(file_name, ":"), [&](const YAML::Node& document) -> absl::Status {
        TTL_ASSIGN_OR_RETURN(roles, ReadDocument(file_name, document));
        return absl::OkStatus();
      }));
  return roles;
}

absl::StatusOr<IdentityRoles> ReadAccessFile(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path, {.max_bytes = kMaxAccessFileBytes});
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--access-file: ", text.status().message()));
  }
  return ParseAccess(path, *text);
}

}  // namespace ttl
