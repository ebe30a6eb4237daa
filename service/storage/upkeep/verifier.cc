#include "service/storage/upkeep/verifier.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/upkeep/feed_invariants.h"
#include "service/storage/upkeep/invariants.h"

// Records are read a page at a time and copied, so that no cursor is held while they are checked. A
// record that seems wrong may have changed since it was read, or a change may be in the database
// and not yet visible to readers. So it is checked again at once, and several times more after
// pauses; only what is wrong each time is a problem.
namespace ttl {
namespace {

constexpr size_t kRecordsPerStep = 2000;

// How often a record that seems wrong is checked, in all.
constexpr int kLooks = 4;

}  // namespace

Verifier::Next Verifier::Step() {
  knows_owners_ = false;
  if (suspects_.empty()) {
    more_ = Read(suspects_);
    suspects_ = LookAt(LookAt(std::move(suspects_)));
    looks_ = 2;
  } else {
    suspects_ = LookAt(std::move(suspects_));
    ++looks_;
  }
  if (!suspects_.empty() && looks_ < kLooks) return Next::kPause;
  for (const Record& record : std::exchange(suspects_, {})) {
    if (!absl::IsUnavailable(record.status)) Add(std::string(record.status.message()));
  }
  return more_ ? Next::kStep : Next::kEnd;
}

// Returns whether there are more. Copies them, so that no cursor is held while they are
// looked at.
bool Verifier::Read(Records& records) {
  if (position_.empty()) {
    for (std::string& problem : catalog_.Problems()) Add(std::move(problem));
  }
  bool more = false;
  absl::Status status;
  {
    auto cursor = database_.WalkPrefix("", position_);
    for (; cursor.Valid() && records.size() < kRecordsPerStep; cursor.Next()) {
      records.push_back({std::string(cursor.key()), std::string(cursor.value()), {}});
    }
    status = cursor.status();
    more = cursor.Valid();
  }
  records_ += static_cast<int64_t>(records.size());
  if (!records.empty()) position_ = records.back().key + '\0';
  if (status.ok()) return more;
  if (!absl::IsDataLoss(status)) {
    Add(std::string(status.message()));
    return false;
  }
  SkipDamage(status.message());
  return !position_.empty();
}

// Returns those with which something seems wrong.
Verifier::Records Verifier::LookAt(Records records) {
  Records wrong;
  for (Record& record : records) {
    record.status = Look(record);
    if (!record.status.ok()) wrong.push_back(std::move(record));
  }
  return wrong;
}

absl::Status Verifier::Look(Record& record) {
  switch (record.key[0]) {
    case kItemTable:
      return LookAtItem(record);
    case kIndexTable:
      return LookAtEntry(record);
    case kHoldTable:
      return LookAtHold(record);
    case kKeyHoldsTable:
    case kHoldKeysTable:
      return LookAtHoldKey(record);
    case kEventTable:
    case kFeedTrimTable:
    case kSubscriptionTable:
      return LookAtFeedRecord(record);
    case kTotalsTable:
      return DecodeTotals(*record.value).status();
    default:
      return absl::OkStatus();  // containers are among the problems of the catalog; facts are
                                // read when used
  }
}

absl::Status Verifier::LookAtItem(Record& record) const {
  if (!record.value.has_value()) return absl::OkStatus();
  const ContainerPtr container = catalog_.Find(DecodeNumber(record.key).value_or(0));
  if (container == nullptr) return LookAtUnowned(record);
  const auto item = DecodeStoredItem(*record.value);
  const absl::Status checked =
      item.ok() ? CheckItem(database_, *container, record.key, *item) : item.status();
  if (checked.ok()) return checked;
  TTL_ASSIGN_OR_RETURN(auto again, database_.Get(record.key));
  const bool changed = again != record.value;
  record.value = std::move(again);
  return changed ? absl::UnavailableError("it changed meanwhile") : checked;
}

absl::Status Verifier::LookAtUnowned(Record& record) const {
  TTL_ASSIGN_OR_RETURN(const auto purged,
                       database_.Get(PurgeKey(DecodeNumber(record.key).value_or(0))));
  if (purged.has_value()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(record.value, database_.Get(record.key));
  if (!record.value.has_value()) return absl::OkStatus();
  return absl::InternalError("an item or a hold is in a container that does not exist");
}

absl::Status Verifier::LookAtEntry(const Record& record) {
  TTL_ASSIGN_OR_RETURN(const auto entry, database_.Get(record.key));
  if (!entry.has_value()) return absl::OkStatus();  // moved, or done with
  const uint64_t index = DecodeNumber(record.key).value_or(0);
  ContainerPtr container = OwnerOf(index);
  if (container == nullptr) {
    TTL_ASSIGN_OR_RETURN(const auto purged, database_.Get(PurgeKey(index)));
    if (purged.has_value()) return absl::OkStatus();  // it is gone
    LearnOwners();                                    // it may be newer
    container = OwnerOf(index);
  }
  if (container != nullptr) return CheckEntry(database_, *container, record.key);
  return absl::InternalError("an entry is in an index that does not exist");
}

absl::Status Verifier::LookAtHold(Record& record) const {
  TTL_ASSIGN_OR_RETURN(record.value, database_.Get(record.key));
  if (!record.value.has_value()) return absl::OkStatus();
  if (catalog_.Find(DecodeNumber(record.key).value_or(0)) == nullptr) {
    return LookAtUnowned(record);
  }
  return DecodeHold(0, DecodeHoldNumber(record.key).value_or(0), *record.value).status();
}

absl::Status Verifier::LookAtHoldKey(Record& record) const {
  TTL_ASSIGN_OR_RETURN(record.value, database_.Get(record.key));
  if (!record.value.has_value()) return absl::OkStatus();
  // The records of a container that is being purged go one by one.
  if (catalog_.Find(DecodeNumber(record.key).value_or(0)) == nullptr) {
    return LookAtUnowned(record);
  }
  return CheckHoldKey(database_, record.key, *record.value);
}

absl::Status Verifier::LookAtFeedRecord(Record& record) {
  TTL_ASSIGN_OR_RETURN(record.value, database_.Get(record.key));
  if (!record.value.has_value()) return absl::OkStatus();  // dropped
  const uint64_t feed = DecodeNumber(record.key).value_or(0);
  if (OwnerOf(feed) == nullptr) {
    TTL_ASSIGN_OR_RETURN(const auto purged, database_.Get(PurgeKey(feed)));
    if (purged.has_value()) return absl::OkStatus();  // it is switched off
    LearnOwners();
    if (OwnerOf(feed) == nullptr) return absl::InternalError("an event is in no feed");
  }
  return CheckFeedRecord(record.key, *record.value);
}

// Null if none is known to have an index or a feed with this number.
ContainerPtr Verifier::OwnerOf(uint64_t number) {
  const auto owner = owners_.find(number);
  if (owner == owners_.end()) return nullptr;
  ContainerPtr container = catalog_.Find(owner->second);
  const bool has = container != nullptr &&
                   (container->index_number == number || container->feed.number == number);
  return has ? container : nullptr;
}

void Verifier::LearnOwners() {
  if (std::exchange(knows_owners_, true)) return;
  owners_.clear();
  for (const ContainerPtr& container : catalog_.All()) {
    if (container->index_number != 0) owners_[container->index_number] = container->number;
    if (container->feed.is_on()) owners_[container->feed.number] = container->number;
  }
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
