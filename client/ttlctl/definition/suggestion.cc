#include "client/ttlctl/definition/suggestion.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ttl {
namespace {

constexpr size_t kMaxSuggestions = 2;
// Longer words are not compared, since nobody can have meant one of ours.
constexpr size_t kMaxWordBytes = 100;

// The number of insertions, deletions, substitutions and exchanges of neighbours between the words.
size_t Distance(absl::string_view a, absl::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<size_t> cells((a.size() + 1) * width);
  const auto cell = [&](size_t i, size_t j) -> size_t& { return cells[i * width + j]; };
  for (size_t i = 0; i <= a.size(); ++i) cell(i, 0) = i;
  for (size_t j = 0; j <= b.size(); ++j) cell(0, j) = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = cell(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      cell(i, j) = std::min({cell(i - 1, j) + 1, cell(i, j - 1) + 1, replaced});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) cell(i, j) = std::min(cell(i, j), cell(i - 2, j - 2) + 1);
    }
  }
  return cell(a.size(), b.size());
}

// The distance, if the words are near.
size_t Nearness(absl::string_view word, absl::string_view candidate) {
  constexpr size_t kFar = kMaxWordBytes + 1;
  if (word.empty() || word.size() > kMaxWordBytes) return kFar;
  const size_t distance = Distance(word, candidate);
  const size_t shorter = std::min(word.size(), candidate.size());
  if (distance <= std::max<size_t>(1, shorter / 3) && distance < shorter) return distance;
  const bool is_beginning = word.size() > 1 && word != "--" && absl::StartsWith(candidate, word);
  return is_beginning ? kMaxWordBytes : kFar;
}

}  // namespace

std::vector<std::string> NearestWords(absl::string_view word,
                                      const std::vector<std::string>& words) {
  size_t least = kMaxWordBytes;
  for (const std::string& candidate : words) least = std::min(least, Nearness(word, candidate));
  std::vector<std::string> nearest;
  for (const std::string& candidate : words) {
    if (nearest.size() < kMaxSuggestions && Nearness(word, candidate) == least) {
      nearest.push_back(candidate);
    }
  }
  return nearest;
}

std::string DidYouMean(absl::string_view word, const std::vector<std::string>& words) {
  const std::vector<std::string> nearest = NearestWords(word, words);
  if (nearest.empty()) return "";
  return absl::StrCat("; did you mean \"", absl::StrJoin(nearest, "\" or \""), "\"?");
}

}  // namespace ttl
