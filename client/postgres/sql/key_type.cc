#include "client/postgres/sql/key_type.h"

#include <algorithm>
#include <iterator>

namespace ttl::postgres {
namespace {

// Excludes types whose equal values may have different texts: floats (-0), interval (24 hours and a
// day), numeric without a scale (1 and 1.0), bpchar without a length (trailing spaces), json, xml,
// and types of extensions such as citext. Also excludes money, whose text depends on settings.
constexpr absl::string_view kTypes[] = {"bool", "int2",    "int4",      "int8",        "oid",
                                        "text", "varchar", "uuid",      "bytea",       "date",
                                        "time", "timetz",  "timestamp", "timestamptz", "inet",
                                        "cidr", "macaddr", "macaddr8",  "bit",         "varbit"};

// VARHDRSZ, which PostgreSQL adds to the length in a modifier.
constexpr int kModifierHeader = 4;
constexpr size_t kBytesPerCharacter = 4;  // maximum of UTF-8
constexpr size_t kShortTextBytes = 64;    // numbers, times, addresses, uuid
constexpr size_t kMaxEnumBytes = 63;

// Maximum length of numeric(precision, scale): the digits, a sign, a point and a leading zero, and
// the zeros that a scale below 0 or above the precision adds.
size_t NumericBytes(int modifier) {
  const int packed = modifier - kModifierHeader;
  const int precision = (packed >> 16) & 0xffff;
  const int scale = ((packed & 0x7ff) ^ 0x400) - 0x400;
  return static_cast<size_t>(precision + 3 + std::max({0, -scale, scale - precision}));
}

}  // namespace

bool IsKeyType(const BaseType& type) {
  if (type.is_enum) return true;
  if (type.name == "numeric" || type.name == "bpchar") return type.modifier >= kModifierHeader;
  return std::find(std::begin(kTypes), std::end(kTypes), type.name) != std::end(kTypes);
}

bool IsGroupKeyType(const BaseType& type) {
  // These have no hash operator class.
  return IsKeyType(type) && type.name != "bit" && type.name != "varbit";
}

absl::string_view KeyTypes() {
  return "boolean, integers, oid, text, varchar, char(n), numeric(p, s), uuid, bytea, bit strings, "
         "dates and times, addresses and enums";
}

std::optional<size_t> MaxTextBytes(const BaseType& type) {
  if (type.is_enum) return kMaxEnumBytes;
  if (type.name == "numeric") return NumericBytes(type.modifier);
  if (type.name == "bit" || type.name == "varbit") {
    if (type.modifier < 0) return std::nullopt;
    return static_cast<size_t>(type.modifier);
  }
  if (type.name == "text" || type.name == "bytea") return std::nullopt;
  if (type.name == "varchar" || type.name == "bpchar") {
    if (type.modifier < kModifierHeader) return std::nullopt;
    return static_cast<size_t>(type.modifier - kModifierHeader) * kBytesPerCharacter;
  }
  return kShortTextBytes;
}

}  // namespace ttl::postgres
