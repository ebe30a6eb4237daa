#include "service/storage/verifier.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/storage/invariants.h"
#include "service/storage/key_codec.h"
#include "service/storage/record_codec.h"

namespace ttl {
namespace {

constexpr size_t kRecordsPerStep = 2000;

// A change is seen by readers a moment after it is in the database.
constexpr int kLooks = 3;
constexpr absl::Duration kBetweenLooks = absl::Milliseconds(50);

// Whether `look` finds something wrong each time. UNAVAILABLE counts as nothing wrong.
template <typename Look>
std::optional<std::string> Confirm(Look look) {
  absl::Status status = look();
  for (int i = 1; i < kLooks && !status.ok(); ++i) {
    absl::SleepFor(kBetweenLooks);
    status = look();
  }
  if (status.ok() || absl::IsUnavailable(status)) return std::nullopt;
  return std::string(status.message());
}

}  // namespace

// The numbers that keys may be under, as of the beginning of a step.
struct Verifier::Living {
  explicit Living(const Catalog& catalog) {
    for (const ContainerPtr& container : catalog.All()) {
      if (container->index_number != 0) by_index[container->index_number] = container->number;
    }
  }
  absl::flat_hash_map<uint64_t, uint64_t> by_index;  // number of the container
};

bool Verifier::Step() {
  if (position_.empty()) {
    for (std::string& problem : catalog_.Problems()) Add(std::move(problem));
  }
  const Living living(catalog_);
  // Copied, so that no cursor is held while records are looked at.
  std::vector<std::pair<std::string, std::string>> read;
  bool more = false;
  absl::Status status;
  {
    auto cursor = database_.WalkPrefix("", position_);
    for (; cursor.Valid() && read.size() < kRecordsPerStep; cursor.Next()) {
      read.emplace_back(cursor.key(), cursor.value());
    }
    status = cursor.status();
    more = cursor.Valid();
  }
  for (const auto& [key, value] : read) Check(living, key, value);
  records_ += static_cast<int64_t>(read.size());
  if (!read.empty()) position_ = read.back().first + '\0';
  if (status.ok()) return more;
  if (!absl::IsDataLoss(status)) {
    Add(std::string(status.message()));
    return false;
  }
  SkipDamage(status.message());
  return !position_.empty();
}

void Verifier::Check(const Living& living, absl::string_view key, absl::string_view value) {
  switch (key[0]) {
    case kItemTable:
      return CheckItem(living, std::string(key), std::string(value));
    case kIndexTable:
      return CheckEntry(living, std::string(key));
    case kTotalsTable:
      if (const auto totals = DecodeTotals(value); !totals.ok()) {
        Add(std::string(totals.status().message()));
      }
      return;
    default:
      return;  // containers are among the problems of the catalog; facts are read when used
  }
}

void Verifier::CheckItem(const Living& /*living*/, const std::string& key,
                         const std::string& value) {
  const uint64_t number = DecodeNumber(key).value_or(0);
  std::optional<std::string> bytes = value;
  const auto problem = Confirm([&]() -> absl::Status {
    const ContainerPtr container = catalog_.Find(number);
    if (bytes.has_value() && container != nullptr) {
      const auto item = DecodeStoredItem(*bytes);
      const absl::Status checked =
          item.ok() ? ttl::CheckItem(database_, *container, key, *item) : item.status();
      if (checked.ok()) return checked;
      auto again = database_.Get(key);
      if (!again.ok()) return again.status();
      const bool changed = *again != bytes;
      bytes = *std::move(again);
      return changed ? absl::UnavailableError("it changed meanwhile") : checked;
    }
    if (!bytes.has_value()) return absl::OkStatus();
    const auto purged = database_.Get(PurgeKey(number));
    if (!purged.ok()) return purged.status();
    if (purged->has_value()) return absl::OkStatus();
    auto again = database_.Get(key);
    if (!again.ok()) return again.status();
    bytes = *std::move(again);
    if (!bytes.has_value()) return absl::OkStatus();
    return absl::InternalError("an item is in a container that does not exist");
  });
  if (problem.has_value()) Add(*problem);
}

void Verifier::CheckEntry(const Living& living, const std::string& key) {
  const uint64_t index = DecodeNumber(key).value_or(0);
  const auto problem = Confirm([&]() -> absl::Status {
    const auto entry = database_.Get(key);
    if (!entry.ok()) return entry.status();
    if (!entry->has_value()) return absl::OkStatus();  // moved, or done with
    const auto known = living.by_index.find(index);
    const ContainerPtr container =
        known == living.by_index.end() ? nullptr : catalog_.Find(known->second);
    if (container != nullptr && container->index_number == index) {
      return ttl::CheckEntry(database_, *container, key);
    }
    // Of an index that is gone, or newer than this step.
    const auto purged = database_.Get(PurgeKey(index));
    if (!purged.ok()) return purged.status();
    if (purged->has_value() || Living(catalog_).by_index.contains(index)) return absl::OkStatus();
    return absl::InternalError("an entry is in an index that does not exist");
  });
  if (problem.has_value()) Add(*problem);
}

// Goes on behind what cannot be read: with the next container or index, or, where that
// cannot be read either, with the next table.
void Verifier::SkipDamage(absl::string_view error) {
  constexpr size_t kNumbered = 9;  // table and number
  Add(absl::StrCat(error,
                   position_.empty() ? "" : ": what follows it in its container is skipped"));
  const bool again = position_ == damaged_at_ || position_.size() < kNumbered;
  const std::string prefix =
      position_.empty() ? std::string(1, '\0') : position_.substr(0, again ? 1 : kNumbered);
  position_ = static_cast<unsigned char>(prefix[0]) == 0xFF ? "" : PrefixEnd(prefix);
  damaged_at_ = position_;
}

void Verifier::Add(std::string problem) {
  ++problem_count_;
  if (told_ + problems_.size() < kMaxProblems) problems_.push_back(std::move(problem));
}

std::vector<std::string> Verifier::TakeProblems() {
  told_ += problems_.size();
  return std::exchange(problems_, {});
}

}  // namespace ttl
