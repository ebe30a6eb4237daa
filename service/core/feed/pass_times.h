#ifndef TTL_SERVICE_CORE_FEED_PASS_TIMES_H_
#define TTL_SERVICE_CORE_FEED_PASS_TIMES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ttl {

// When the gates of a feed let which of its events pass, so that an item is late only from then on.
// Bounded: of long ago it knows the times less exactly, and rather too early than too late. A
// value.
class PassTimes {
 public:
  static constexpr size_t kMaxMoves = 256;

  // From `time` on, Unix seconds, events up to `passed` are passed; after a smaller number than
  // before, those behind it are not. Times up to 0 are no times: then nothing is noted.
  void Note(uint64_t passed, int64_t time) {
    while (!moves_.empty() && moves_.back().passed > passed) moves_.pop_back();
    if (time <= 0 || (!moves_.empty() && moves_.back().passed == passed)) return;
    if (!moves_.empty() && moves_.back().time == time) {
      moves_.back().passed = passed;
      return;
    }
    moves_.push_back({passed, time});
    if (moves_.size() > kMaxMoves) Thin();
  }

  // Unix second at which the event was passed; 0 if it is not known, or not passed.
  int64_t PassedAt(uint64_t sequence) const {
    const auto first =
        std::lower_bound(moves_.begin(), moves_.end(), sequence,
                         [](const Move& move, uint64_t value) { return move.passed < value; });
    return first == moves_.end() ? 0 : first->time;
  }

  bool is_empty() const { return moves_.empty(); }

 private:
  struct Move {
    uint64_t passed;
    int64_t time;
  };

  // Makes one move of every two.
  void Thin() {
    std::vector<Move> thinned;
    for (size_t i = 0; i < moves_.size(); i += 2) {
      const size_t last = std::min(i + 1, moves_.size() - 1);
      thinned.push_back({moves_[last].passed, moves_[i].time});
    }
    moves_ = std::move(thinned);
  }

  std::vector<Move> moves_;  // both ascending
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FEED_PASS_TIMES_H_
