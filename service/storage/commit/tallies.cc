#include "service/storage/commit/tallies.h"

#include <algorithm>
#include <limits>

#include "service/base/status_macros.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"

// The distribution of a container (its histogram) covers the items up to the position of its walk.
// A commit may contain a step of the walk and changes of items. The step comes first: it counts
// items as they were before the commit, and moves the position. Then each change of an item up to
// the position is applied to the distribution; a change behind it is left to the walk.
//
// Totals do not depend on the walk. If they were not stored or are unreadable, they are unknown
// until the walk ends, and are then the sum of the distribution. TotalsAfter() computes the stored
// record for the batch, and Publish() the same in memory after the write.
namespace ttl {
namespace {

// The item's times for a tally: nothing expires that is known to be wrong.
ItemTimes TimesOf(const StoredItem& item) {
  if (item.state_unknown) return {item.version.times.ts, kNeverExpires};
  return item.version.times;
}

int64_t BytesOf(const StoredItem& item) {
  return std::clamp<int64_t>(item.version.size_bytes, 0, Tallies::kMaxItemBytes);
}

ItemSum SumOf(const StoredItem* item) {
  return item == nullptr ? ItemSum() : ItemSum{1, BytesOf(*item)};
}

ItemSum DifferenceOf(const Tallies::Change& change) {
  ItemSum difference;
  for (const Tallies::ItemChange& item : change.items) {
    difference += SumOf(item.after);
    difference -= SumOf(item.before);
  }
  return difference;
}

bool IsAdopted(const StoredItem* item) { return item != nullptr && item->adopted_until != 0; }

AdoptionTally AdoptedAfter(AdoptionTally adopted, const Tallies::Change& change) {
  for (const Tallies::ItemChange& item : change.items) {
    const bool waits_on = IsAdopted(item.before) && IsAdopted(item.after) &&
                          item.before->adopted_until == item.after->adopted_until;
    if (waits_on) continue;
    // First: whoever is the last of a run ends it.
    if (IsAdopted(item.before)) adopted.Remove();
    if (IsAdopted(item.after)) adopted.Add(item.after->adopted_until);
  }
  return adopted;
}

}  // namespace

void Tallies::AddTo(ItemHistogram& tally, const StoredItem& item) {
  tally.Add(TimesOf(item), BytesOf(item));
}

absl::Status Tallies::Load(const Database& database, const Catalog& catalog) {
  absl::flat_hash_map<uint64_t, Entry> entries;
  absl::btree_set<uint64_t> incomplete;
  for (const ContainerPtr& container : catalog.All()) {
    Entry& entry = entries[container->number];
    entry.walked = "";
    entry.index = container->index_number;
    entry.announced_after = AnnouncedAfter(*container);
    incomplete.insert(container->number);
  }
  auto cursor = database.ReadPrefix(std::string(1, kTotalsTable));
  for (; cursor.Valid(); cursor.Next()) {
    const auto it = entries.find(DecodeNumber(cursor.key()).value_or(0));
    const absl::StatusOr<ContainerTotals> totals = DecodeTotals(cursor.value());
    if (it == entries.end() || !totals.ok()) continue;
    it->second.totals = totals->tracked;
    it->second.adopted = totals->adopted;
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  MutexLock lock(mutex_);
  entries_ = std::move(entries);
  incomplete_ = std::move(incomplete);
  return absl::OkStatus();
}

TallyView Tallies::View(uint64_t container) const {
  TallyView view;
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  if (it == entries_.end()) return view;
  view.histogram = it->second.histogram;
  view.tracked = it->second.totals.value_or(view.histogram.total());
  view.adopted = it->second.adopted;
  view.complete = !it->second.walked.has_value();
  return view;
}

AdoptionTally Tallies::Adopted(uint64_t container) const {
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  return it == entries_.end() ? AdoptionTally() : it->second.adopted;
}

Tallies::Figures Tallies::FiguresOf(uint64_t container, const DueRule& rule,
                                    int64_t now_seconds) const {
  Figures figures;
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  if (it == entries_.end()) return figures;
  const Entry& entry = it->second;
  figures.tracked = entry.totals.value_or(entry.histogram.total());
  figures.due = entry.histogram.CountDue(rule, now_seconds);
  figures.failing = entry.failing;
  figures.adopted = entry.adopted;
  figures.complete = !entry.walked.has_value();
  return figures;
}

Tallies::Forecast Tallies::ForecastOf(uint64_t container, absl::Span<const DueMoment> expiry,
                                      absl::Span<const DueMoment> due) const {
  const Entry none;
  Forecast forecast;
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  const Entry& entry = it == entries_.end() ? none : it->second;
  forecast.expiring = entry.histogram.CountDueSteps(expiry);
  forecast.due = entry.histogram.CountDueSteps(due);
  forecast.tracked = entry.totals.value_or(entry.histogram.total());
  forecast.adopted = entry.adopted;
  forecast.complete = it != entries_.end() && !entry.walked.has_value();
  return forecast;
}

int64_t Tallies::Failing(uint64_t container) const {
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  return it == entries_.end() ? 0 : it->second.failing;
}

int64_t Tallies::SetAside(uint64_t container) const {
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  return it == entries_.end() ? 0 : it->second.set_aside;
}

int64_t Tallies::Gated(uint64_t container) const {
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  return it == entries_.end() ? 0 : it->second.gated;
}

int64_t Tallies::Announced(uint64_t container) const {
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  return it == entries_.end() ? 0 : it->second.announced;
}

uint64_t Tallies::AnnouncedAfter(const Container& container) {
  return container.feed.is_on() ? container.feed.first_sequence
                                : std::numeric_limits<uint64_t>::max();
}

ItemSum Tallies::Tracked(uint64_t container) const {
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  if (it == entries_.end()) return {};
  return it->second.totals.value_or(it->second.histogram.total());
}

std::optional<std::string> Tallies::WalkPosition(uint64_t container) const {
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  return it == entries_.end() ? std::nullopt : it->second.walked;
}

std::vector<uint64_t> Tallies::FindIncomplete(uint64_t from, size_t most) const {
  std::vector<uint64_t> found;
  MutexLock lock(mutex_);
  for (auto it = incomplete_.lower_bound(from); it != incomplete_.end() && found.size() < most;
       ++it) {
    found.push_back(*it);
  }
  return found;
}

std::optional<ContainerTotals> Tallies::TotalsAfter(uint64_t container,
                                                    const Change& change) const {
  MutexLock lock(mutex_);
  const auto it = entries_.find(container);
  const bool is_new = it == entries_.end();
  const std::optional<ItemSum> present = is_new ? ItemSum() : it->second.totals;
  std::optional<ItemSum> totals = present;
  if (!is_new && change.step != nullptr && change.step->finished) {
    totals = it->second.histogram.total();
    *totals += change.step->items.total();
  }
  if (!totals.has_value()) return std::nullopt;
  *totals += DifferenceOf(change);
  const AdoptionTally adopted = is_new ? AdoptionTally() : it->second.adopted;
  const ContainerTotals after = {*totals, AdoptedAfter(adopted, change)};
  if (totals == present && after.adopted == adopted && !is_new) return std::nullopt;
  return after;
}

void Tallies::Publish(const Changes& changes) {
  MutexLock lock(mutex_);
  for (const auto& [container, change] : changes) {
    if (change.erased) {
      entries_.erase(container);
      incomplete_.erase(container);
      continue;
    }
    const auto [it, is_new] = entries_.try_emplace(container);
    if (is_new) it->second.totals.emplace();
    Apply(change, it->second);
    if (!it->second.walked.has_value()) incomplete_.erase(container);
  }
}

void Tallies::Apply(const Change& change, Entry& entry) {
  if (change.step != nullptr) {
    entry.histogram.Add(change.step->items);
    entry.failing += change.step->failing;
    entry.set_aside += change.step->set_aside;
    entry.gated += change.step->gated;
    entry.announced += change.step->announced;
    entry.walked = change.step->reached;
    if (change.step->finished) {
      entry.totals = entry.histogram.total();
      entry.walked.reset();
    }
  }
  // No item has an entry in a new index yet.
  if (change.index.value_or(entry.index) != entry.index) entry.set_aside = entry.gated = 0;
  entry.index = change.index.value_or(entry.index);
  // No item is announced in a new feed yet.
  if (change.announced_after.value_or(entry.announced_after) != entry.announced_after)
    entry.announced = 0;
  entry.announced_after = change.announced_after.value_or(entry.announced_after);
  if (entry.totals.has_value()) *entry.totals += DifferenceOf(change);
  entry.adopted = AdoptedAfter(entry.adopted, change);
  for (const ItemChange& item : change.items) {
    if (entry.walked.has_value() && item.key > *entry.walked) continue;
    if (item.before != nullptr) {
      entry.histogram.Remove(TimesOf(*item.before), BytesOf(*item.before));
      if (IsFailing(*item.before)) --entry.failing;
      if (IsSetAside(*item.before, entry.index)) --entry.set_aside;
      if (IsGated(*item.before, entry.index)) --entry.gated;
      if (IsAnnounced(*item.before, entry.announced_after)) --entry.announced;
    }
    if (item.after == nullptr) continue;
    AddTo(entry.histogram, *item.after);
    if (IsFailing(*item.after)) ++entry.failing;
    if (IsSetAside(*item.after, entry.index)) ++entry.set_aside;
    if (IsGated(*item.after, entry.index)) ++entry.gated;
    if (IsAnnounced(*item.after, entry.announced_after)) ++entry.announced;
  }
}

}  // namespace ttl
