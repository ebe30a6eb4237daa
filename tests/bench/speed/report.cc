#include "tests/bench/speed/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ttl::bench {
namespace {

using Line = std::vector<std::string>;

std::string Number(double value) {
  if (std::abs(value) >= 1e6) return absl::StrFormat("%.2fM", value / 1e6);
  if (std::abs(value) >= 1e4) return absl::StrFormat("%.0fk", value / 1e3);
  if (std::abs(value) >= 100) return absl::StrFormat("%.0f", value);
  return absl::StrFormat("%.4g", value);
}

std::string RatioText(const Spread& ratio) {
  return absl::StrFormat("%.2f-%.2f-%.2f", ratio.min, ratio.median, ratio.max);
}

std::string TargetText(const std::optional<Target>& target) {
  if (!target.has_value()) return "";
  return absl::StrFormat("%s %.4g",
                         target->kind == Target::Kind::kAtLeast ? ">=" : "<=", target->value);
}

std::string MetText(const Row& row, const std::optional<bool>& met) {
  if (!met.has_value()) return "";
  if (!row.disturbance.empty()) return "busy";
  return *met ? "yes" : "NO";
}

void AppendLines(const Row& row, std::vector<Line>& lines) {
  if (row.comparisons.empty()) {
    lines.push_back({row.name, row.work, row.unit, Number(row.ours.median), "", "", "", "", ""});
  }
  for (const Comparison& other : row.comparisons) {
    lines.push_back({row.name, row.work, row.unit, Number(row.ours.median), other.name,
                     Number(other.value.median), RatioText(other.ratio), TargetText(other.target),
                     MetText(row, other.Met())});
  }
}

// Columns as wide as their widest cell.
std::string Layout(const std::vector<Line>& lines) {
  std::vector<size_t> widths(lines[0].size());
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (size_t row = 0; row < lines.size(); ++row) {
    for (size_t i = 0; i < widths.size(); ++i) {
      absl::StrAppendFormat(&text, "| %-*s ", static_cast<int>(widths[i]), lines[row][i]);
    }
    text += "|\n";
    if (row > 0) continue;
    for (const size_t width : widths) absl::StrAppend(&text, "|", std::string(width + 2, '-'));
    text += "|\n";
  }
  return text;
}

nlohmann::json ToJson(const Spread& spread) {
  return {{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

nlohmann::json ToJson(const Comparison& other, bool has_verdict) {
  nlohmann::json json = {
      {"name", other.name}, {"value", ToJson(other.value)}, {"ratio", ToJson(other.ratio)}};
  if (other.target.has_value()) {
    json["target"] = TargetText(other.target);
    if (has_verdict) json["met"] = *other.Met();
  }
  return json;
}

nlohmann::json ToJson(const Row& row) {
  nlohmann::json json = {{"name", row.name},
                         {"work", row.work},
                         {"unit", row.unit},
                         {"ours", ToJson(row.ours)},
                         {"comparisons", nlohmann::json::array()},
                         {"note", row.note},
                         {"disturbance", row.disturbance}};
  for (const Comparison& other : row.comparisons) {
    json["comparisons"].push_back(ToJson(other, row.disturbance.empty()));
  }
  return json;
}

}  // namespace

std::optional<bool> Comparison::Met() const {
  if (!target.has_value()) return std::nullopt;
  return target->kind == Target::Kind::kAtLeast ? ratio.median >= target->value
                                                : ratio.median <= target->value;
}

std::string ToTable(const std::vector<Row>& rows) {
  std::vector<Line> lines = {
      {"row", "work", "unit", "ours", "against", "theirs", "ratio", "target", "met"}};
  for (const Row& row : rows) AppendLines(row, lines);
  std::string text = Layout(lines);
  for (const Row& row : rows) {
    if (!row.note.empty()) absl::StrAppend(&text, "\n", row.name, ": ", row.note);
    if (!row.disturbance.empty()) absl::StrAppend(&text, "\n", row.name, ": ", row.disturbance);
  }
  return text + "\n";
}

std::string ToJson(const Circumstances& circumstances, const std::vector<Row>& rows) {
  nlohmann::json json = {{"started", circumstances.started},
                         {"machine", circumstances.machine},
                         {"rounds", circumstances.rounds},
                         {"window_seconds", circumstances.window_seconds},
                         {"rows", nlohmann::json::array()}};
  for (const Row& row : rows) json["rows"].push_back(ToJson(row));
  return json.dump(2) + "\n";
}

}  // namespace ttl::bench
