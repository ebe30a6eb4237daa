#include "tests/bench/workload/oracle.h"

#include "absl/strings/str_cat.h"

namespace ttl::workload {
namespace {

std::string FormatInstant(absl::Time time) {
  return absl::FormatTime("%H:%M:%E6S", time, absl::UTCTimeZone());
}

std::string FormatTtl(std::optional<int64_t> ttl) {
  return ttl.has_value() ? absl::StrCat(*ttl) : "absent";
}

std::string Describe(const DocumentState& state) {
  return absl::StrCat("{ts ", state.ts, ", ttl ", FormatTtl(state.ttl), ", version ",
                      state.version.has_value() ? absl::StrCat(*state.version) : "?", ", etag ",
                      state.etag, "}");
}

}  // namespace

Oracle::Oracle(int64_t default_ttl, uint32_t documents)
    : default_ttl_(default_ttl), documents_(documents) {}

void Oracle::Written(uint32_t number, const DocumentState& state) {
  documents_[number] = {.ts = state.ts,
                        .ttl = state.ttl.value_or(kTtlAbsent),
                        .etag = state.etag,
                        .version = *state.version,
                        .exists = true};
}

void Oracle::Deleted(uint32_t number) { documents_[number] = {}; }

void Oracle::MaybeWritten(uint32_t number, uint32_t version, std::optional<int64_t> ttl,
                          absl::Time sent) {
  maybe_[number] = {
      .deletes = false, .version = version, .ttl = ttl, .earliest_ts = absl::ToUnixSeconds(sent)};
}

void Oracle::MaybeDeleted(uint32_t number) {
  maybe_[number] = {.deletes = true, .version = 0, .ttl = std::nullopt, .earliest_ts = 0};
}

std::optional<std::string> Oracle::ResolveFound(uint32_t number, const DocumentState& found,
                                                absl::Time received) {
  const std::optional<std::string> not_before = CheckFound(number, found, received);
  if (!not_before.has_value()) {
    maybe_.erase(number);
    return std::nullopt;
  }
  const Maybe& maybe = maybe_.at(number);
  const bool is_attempt = !maybe.deletes && found.version == maybe.version &&
                          found.ttl == maybe.ttl && found.ts >= maybe.earliest_ts &&
                          found.ts <= absl::ToUnixSeconds(received);
  if (!is_attempt) {
    return absl::StrCat("found neither the acknowledged nor the unanswered write: ", *not_before);
  }
  Written(number, found);
  maybe_.erase(number);
  return std::nullopt;
}

std::optional<std::string> Oracle::ResolveMissing(uint32_t number, absl::Time received) {
  const Maybe& maybe = maybe_.at(number);
  const bool attempt_gone = maybe.deletes || received >= ExpireTime(maybe.earliest_ts, maybe.ttl);
  if (!attempt_gone) {
    if (const auto wrong = CheckMissing(number, received); wrong.has_value()) return wrong;
  }
  Deleted(number);
  maybe_.erase(number);
  return std::nullopt;
}

absl::Time Oracle::ExpireTime(int64_t ts, std::optional<int64_t> ttl) const {
  const int64_t effective = ttl.value_or(default_ttl_);
  return effective == -1 ? absl::InfiniteFuture() : absl::FromUnixSeconds(ts + effective);
}

absl::Time Oracle::ExpireTime(uint32_t number) const {
  const Known& known = documents_[number];
  return known.exists ? ExpireTime(known.ts, Ttl(number)) : absl::InfinitePast();
}

int64_t Oracle::CountLive(absl::Time at) const {
  int64_t live = 0;
  for (uint32_t number = 0; number < documents(); ++number) live += IsLive(number, at);
  return live;
}

std::optional<uint32_t> Oracle::Version(uint32_t number) const {
  const Known& known = documents_[number];
  return known.exists ? std::optional<uint32_t>(known.version) : std::nullopt;
}

std::optional<int64_t> Oracle::Ttl(uint32_t number) const {
  const Known& known = documents_[number];
  return known.ttl == kTtlAbsent ? std::nullopt : std::optional<int64_t>(known.ttl);
}

std::optional<std::string> Oracle::CheckFound(uint32_t number, const DocumentState& found,
                                              absl::Time judged_at) const {
  const Known& known = documents_[number];
  const bool same = known.exists && found.ts == known.ts && found.ttl == Ttl(number) &&
                    found.etag == known.etag &&
                    found.version.value_or(known.version) == known.version;
  if (!same)
    return absl::StrCat("found ", workload::Describe(found), ", expected ", Describe(number));
  if (IsLive(number, judged_at)) return std::nullopt;
  return absl::StrCat("found although expired at ", FormatInstant(judged_at), ": ",
                      Describe(number));
}

std::optional<std::string> Oracle::CheckMissing(uint32_t number, absl::Time received) const {
  if (!IsLive(number, received)) return std::nullopt;
  return absl::StrCat("missing at ", FormatInstant(received), " although live: ", Describe(number));
}

std::optional<std::string> Oracle::CheckExisted(uint32_t number, absl::Time sent) const {
  if (IsLive(number, sent)) return std::nullopt;
  return absl::StrCat("existed at ", FormatInstant(sent), " although not live: ", Describe(number));
}

std::string Oracle::Describe(uint32_t number) const {
  const Known& known = documents_[number];
  if (!known.exists) return "{none}";
  const absl::Time expire_time = ExpireTime(number);
  return absl::StrCat("{ts ", known.ts, ", ttl ", FormatTtl(Ttl(number)), ", version ",
                      known.version, ", etag ", known.etag, ", expires ",
                      expire_time == absl::InfiniteFuture() ? "never" : FormatInstant(expire_time),
                      "}");
}

}  // namespace ttl::workload
