#include "client/postgres/config/yaml_reader.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"

namespace ttl::postgres {
namespace {

// Maximum length of a refused value in a problem.
constexpr size_t kMaxShownBytes = 100;

std::string Describe(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar()) return "nothing";
  const std::string& text = node.Scalar();
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text.substr(0, kMaxShownBytes)),
                      text.size() > kMaxShownBytes ? "\"..." : "\"");
}

// yaml-cpp gives quoted scalars the tag "!": they are text, not numbers.
bool IsPlain(const YAML::Node& node) { return node.IsScalar() && node.Tag() == "?"; }

// Levenshtein distance.
size_t Distance(absl::string_view from, absl::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t exchanged = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({exchanged, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

std::string UnknownKey(const YAML::Node& key, const std::vector<YamlReader::Field>& fields) {
  const std::string name =
      key.IsScalar() ? absl::AsciiStrToLower(key.Scalar().substr(0, kMaxShownBytes)) : "";
  const auto is_nearer = [&name](const YamlReader::Field& a, const YamlReader::Field& b) {
    return Distance(name, a.name) < Distance(name, b.name);
  };
  const std::string& nearest = std::min_element(fields.begin(), fields.end(), is_nearer)->name;
  if (Distance(name, nearest) <= std::max<size_t>(2, nearest.size() / 3)) {
    return absl::StrCat("unknown key ", Describe(key), "; did you mean ", nearest, "?");
  }
  const auto append_name = [](std::string* out, const YamlReader::Field& field) {
    out->append(field.name);
  };
  return absl::StrCat("unknown key ", Describe(key), "; the keys are ",
                      absl::StrJoin(fields, ", ", append_name));
}

struct Unit {
  absl::string_view name;
  int64_t factor;
};

constexpr Unit kTimeUnits[] = {{"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}};
constexpr Unit kByteUnits[] = {{"KiB", int64_t{1} << 10},
                               {"MiB", int64_t{1} << 20},
                               {"GiB", int64_t{1} << 30},
                               {"TiB", int64_t{1} << 40}};

// Parses decimal digits with an optional minus. Blanks, 0x, and leading zeros, which some parsers
// read as octal, are refused.
bool ParseWhole(absl::string_view text, int64_t& number) {
  const absl::string_view digits = text.substr(text.substr(0, 1) == "-" ? 1 : 0);
  return !digits.empty() && (digits.size() == 1 || digits[0] != '0') &&
         std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, &number);
}

// Parses a number with its unit; only 0 may omit the unit.
bool ParseWithUnit(absl::string_view text, absl::Span<const Unit> units, int64_t& number) {
  const size_t digits =
      std::find_if_not(text.begin(), text.end(), absl::ascii_isdigit) - text.begin();
  if (!ParseWhole(text.substr(0, digits), number)) return false;
  const absl::string_view name = text.substr(digits);
  if (name.empty()) return number == 0;
  for (const Unit& unit : units) {
    if (unit.name == name) return !__builtin_mul_overflow(number, unit.factor, &number);
  }
  return false;
}

std::string FormatBytes(int64_t bytes) {
  const Unit* unit = &kByteUnits[0];
  for (const Unit& larger : kByteUnits) {
    if (bytes >= larger.factor && bytes % larger.factor == 0) unit = &larger;
  }
  return absl::StrCat(bytes / unit->factor, unit->name);
}

}  // namespace

void YamlReader::Report(const YamlPlace& place, absl::string_view problem) {
  const std::string problem_line =
      absl::StrCat("line ", std::max(place.node.Mark().line, 0) + 1, ": ", place.path,
                   place.path.empty() ? "" : ": ", problem);
  // A name may contain a line break, but a problem is one line.
  problems_.push_back(absl::StrReplaceAll(problem_line, {{"\n", "\\n"}}));
}

void YamlReader::Refuse(const YamlPlace& place, absl::string_view right) {
  Report(place, absl::StrCat(Describe(place.node), " is not allowed; give ", right));
}

void YamlReader::ReadMapping(const YamlPlace& place, const std::vector<Field>& fields) {
  if (!place.node.IsMap()) return Refuse(place, "a mapping, lines of the form key: value");
  std::set<std::string> seen;
  for (const auto& pair : place.node) {
    const YamlPlace at_key = {place.path, pair.first};
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& known) {
      return pair.first.IsScalar() && known.name == pair.first.Scalar();
    });
    if (field == fields.end()) {
      Report(at_key, UnknownKey(pair.first, fields));
    } else if (!seen.insert(field->name).second) {
      Report(at_key, absl::StrCat(field->name, " is given twice"));
    } else if (pair.second.IsNull()) {
      seen.erase(field->name);
    } else {
      field->read(
          {absl::StrCat(place.path, place.path.empty() ? "" : ".", field->name), pair.second});
    }
  }
  for (const Field& field : fields) {
    if (field.is_required && !seen.contains(field.name)) {
      Report(place, absl::StrCat(field.name, " is missing"));
    }
  }
}

void YamlReader::ReadText(const YamlPlace& place, std::string& text) {
  if (!place.node.IsScalar() || place.node.Scalar().empty() ||
      place.node.Scalar().find('\0') != std::string::npos) {
    return Refuse(place, "a text that is not empty and has no zero bytes");
  }
  text = place.node.Scalar();
}

void YamlReader::ReadBool(const YamlPlace& place, bool& value) {
  if (!IsPlain(place.node) || (place.node.Scalar() != "true" && place.node.Scalar() != "false")) {
    return Refuse(place, "true or false");
  }
  value = place.node.Scalar() == "true";
}

void YamlReader::ReadWhole(const YamlPlace& place, int64_t min, int64_t max, int64_t& number) {
  int64_t read = 0;
  if (!IsPlain(place.node) || !ParseWhole(place.node.Scalar(), read) || read < min || read > max) {
    return Refuse(place, absl::StrCat("a whole number from ", min, " to ", max));
  }
  number = read;
}

void YamlReader::ReadDuration(const YamlPlace& place, absl::Duration max, bool zero_is_off,
                              absl::Duration& duration) {
  int64_t milliseconds = 0;
  if (!IsPlain(place.node) || !ParseWithUnit(place.node.Scalar(), kTimeUnits, milliseconds) ||
      (milliseconds == 0 && !zero_is_off) || absl::Milliseconds(milliseconds) > max) {
    return Refuse(place,
                  absl::StrCat("a whole number with ms, s, min or h, such as 100ms, from 1ms to ",
                               absl::FormatDuration(max), zero_is_off ? ", or 0 for none" : ""));
  }
  duration = absl::Milliseconds(milliseconds);
}

void YamlReader::ReadBytes(const YamlPlace& place, int64_t min, int64_t& bytes) {
  int64_t read = 0;
  if (!IsPlain(place.node) || !ParseWithUnit(place.node.Scalar(), kByteUnits, read) ||
      (read != 0 && read < min)) {
    return Refuse(place, absl::StrCat("a whole number with KiB, MiB, GiB or TiB, such as 16GiB, "
                                      "at least ",
                                      FormatBytes(min), ", or 0 for no limit"));
  }
  bytes = read;
}

void YamlReader::ReadTexts(const YamlPlace& place, std::vector<std::string>& texts) {
  texts.clear();
  if (!place.node.IsSequence()) {
    texts.emplace_back();
    return ReadText(place, texts.back());
  }
  for (const YAML::Node& node : place.node) {
    texts.emplace_back();
    ReadText({absl::StrCat(place.path, "[", texts.size() - 1, "]"), node}, texts.back());
  }
}

}  // namespace ttl::postgres
