#ifndef TTL_SERVICE_TRANSPORT_ACCESS_ROLE_H_
#define TTL_SERVICE_TRANSPORT_ACCESS_ROLE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace ttl {

// The roles of callers. method_roles.h lists the methods that each may call.
enum class Role : uint8_t {
  kStore,     // reports writes and usage; checks visibility
  kReader,    // reads status, items and events; checks visibility
  kConsumer,  // acknowledges events; checks visibility
  kAdmin,     // all that the last two may, and changes containers and controls deletes
};

inline constexpr std::array kRoles = {Role::kStore, Role::kReader, Role::kConsumer, Role::kAdmin};

// The name in flags and files.
inline absl::string_view RoleName(Role role) {
  constexpr std::array<absl::string_view, kRoles.size()> kNames = {"store", "reader", "consumer",
                                                                   "admin"};
  return kNames[static_cast<size_t>(role)];
}

// A set of roles.
class Roles {
 public:
  constexpr Roles() = default;
  constexpr Roles(std::initializer_list<Role> roles) {
    for (const Role role : roles) bits_ |= Bit(role);
  }
  static constexpr Roles All() {
    return {Role::kStore, Role::kReader, Role::kConsumer, Role::kAdmin};
  }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool Has(Role role) const { return (bits_ & Bit(role)) != 0; }
  constexpr bool Meets(Roles other) const { return (bits_ & other.bits_) != 0; }
  constexpr void Add(Roles other) { bits_ |= other.bits_; }

  friend constexpr bool operator==(Roles, Roles) = default;

 private:
  static constexpr uint8_t Bit(Role role) {
    return static_cast<uint8_t>(1U << static_cast<unsigned>(role));
  }

  uint8_t bits_ = 0;
};

inline std::optional<Role> ParseRole(absl::string_view name) {
  for (const Role role : kRoles) {
    if (RoleName(role) == name) return role;
  }
  return std::nullopt;
}

// Parses names joined by "+", such as "store+reader"; absent if one is unknown.
inline std::optional<Roles> ParseRoles(absl::string_view names) {
  Roles roles;
  for (const absl::string_view name : absl::StrSplit(names, '+')) {
    const std::optional<Role> role = ParseRole(name);
    if (!role.has_value()) return std::nullopt;
    roles.Add({*role});
  }
  return roles;
}

// The reverse of ParseRoles(); "none" for the empty set.
inline std::string Describe(Roles roles) {
  std::string names;
  for (const Role role : kRoles) {
    if (roles.Has(role)) absl::StrAppend(&names, names.empty() ? "" : "+", RoleName(role));
  }
  return names.empty() ? "none" : names;
}

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ACCESS_ROLE_H_
