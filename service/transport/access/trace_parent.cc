#include "service/transport/access/trace_parent.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace ttl {
namespace {

// version "-" trace-id "-" parent-id "-" trace-flags
constexpr size_t kTraceIdAt = 3;
constexpr size_t kTraceIdSize = 32;
constexpr size_t kParentIdAt = 36;
constexpr size_t kParentIdSize = 16;
constexpr size_t kFlagsAt = 53;
constexpr size_t kSize = 55;

bool IsHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsId(absl::string_view text) {
  return IsHex(text) && text.find_first_not_of('0') != absl::string_view::npos;
}

bool HasDashes(absl::string_view text) {
  return text[kTraceIdAt - 1] == '-' && text[kParentIdAt - 1] == '-' && text[kFlagsAt - 1] == '-';
}

// Only version 00 has a fixed length.
bool IsLengthRight(absl::string_view text) {
  return text.size() == kSize || (!absl::StartsWith(text, "00") && text[kSize] == '-');
}

}  // namespace

absl::string_view TraceIdOf(absl::string_view trace_parent) {
  if (trace_parent.size() < kSize || !HasDashes(trace_parent) || !IsLengthRight(trace_parent)) {
    return {};
  }
  const absl::string_view version = trace_parent.substr(0, 2);
  const absl::string_view trace_id = trace_parent.substr(kTraceIdAt, kTraceIdSize);
  const bool is_valid = IsHex(version) && version != "ff" && IsId(trace_id) &&
                        IsId(trace_parent.substr(kParentIdAt, kParentIdSize)) &&
                        IsHex(trace_parent.substr(kFlagsAt, 2));
  return is_valid ? trace_id : absl::string_view();
}

absl::string_view TraceIdOf(const grpc::ServerContextBase& context) {
  const auto [first, end] = context.client_metadata().equal_range(kTraceParentKey);
  if (first == end || std::next(first) != end) return {};
  return TraceIdOf(absl::string_view(first->second.data(), first->second.size()));
}

}  // namespace ttl
