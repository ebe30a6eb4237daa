#ifndef TTL_TESTS_BENCH_WORKLOAD_ORACLE_H_
#define TTL_TESTS_BENCH_WORKLOAD_ORACLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/time/time.h"

namespace ttl::workload {

// A document as the store answered it: after a write, or when read.
struct DocumentState {
  // Stamped by the store, Unix seconds.
  int64_t ts = 0;
  // Its own ttl: absent, -1 or seconds.
  std::optional<int64_t> ttl;
  // Which write it is; absent if not known, because the body was left out.
  std::optional<uint32_t> version;
  std::string etag;
};

// What one worker's documents in one container must look like. It judges by
// arithmetic of its own, from what the store has acknowledged, and shares no
// code with the service. Documents are numbered from 0.
//
// A write that was not answered may or may not have happened; the document is
// then uncertain, with two possible states, until the next answer about it
// tells which one holds. An uncertain document must be resolved before it is
// written again.
//
// Checks return what is wrong in words, or nothing if all is right. Intervals
// [sent, received] are the client's clock around a call that named no instant.
//
// Not thread-safe.
class Oracle {
 public:
  Oracle(int64_t default_ttl, uint32_t documents);

  // An acknowledged write or delete.
  void Written(uint32_t number, const DocumentState& state);
  void Deleted(uint32_t number);

  // An unanswered one. `version` and `ttl` are those of the document written;
  // for a touch those of the present one.
  void MaybeWritten(uint32_t number, uint32_t version, std::optional<int64_t> ttl, absl::Time sent);
  void MaybeDeleted(uint32_t number);

  bool IsUncertain(uint32_t number) const { return maybe_.contains(number); }

  // Makes an uncertain document certain from what a read has found. On an error
  // nothing changes.
  std::optional<std::string> ResolveFound(uint32_t number, const DocumentState& found,
                                          absl::Time received);
  std::optional<std::string> ResolveMissing(uint32_t number, absl::Time received);

  // The rest is about certain documents.

  // First instant at which the document is expired; InfiniteFuture if it never
  // is, InfinitePast if there is none.
  absl::Time ExpireTime(uint32_t number) const;
  bool IsLive(uint32_t number, absl::Time at) const { return at < ExpireTime(number); }
  int64_t CountLive(absl::Time at) const;

  // The last write of a document that is live or expired.
  std::optional<uint32_t> Version(uint32_t number) const;
  std::optional<int64_t> Ttl(uint32_t number) const;
  const std::string& Etag(uint32_t number) const { return documents_[number].etag; }

  // Whether a document may have been found so at that instant.
  std::optional<std::string> CheckFound(uint32_t number, const DocumentState& found,
                                        absl::Time judged_at) const;

  // Whether a call answered by `received` may have found none.
  std::optional<std::string> CheckMissing(uint32_t number, absl::Time received) const;

  // Whether a write that needs a live document may have been accepted.
  std::optional<std::string> CheckExisted(uint32_t number, absl::Time sent) const;

  uint32_t documents() const { return static_cast<uint32_t>(documents_.size()); }

 private:
  struct Known {
    int64_t ts = 0;
    int64_t ttl = kTtlAbsent;
    std::string etag;
    uint32_t version = 0;
    bool exists = false;
  };
  struct Maybe {
    bool deletes = false;
    uint32_t version = 0;
    std::optional<int64_t> ttl;
    int64_t earliest_ts = 0;
  };
  // 0 is not a legal ttl.
  static constexpr int64_t kTtlAbsent = 0;

  absl::Time ExpireTime(int64_t ts, std::optional<int64_t> ttl) const;
  std::string Describe(uint32_t number) const;

  int64_t default_ttl_;
  std::vector<Known> documents_;
  std::unordered_map<uint32_t, Maybe> maybe_;
};

}  // namespace ttl::workload

#endif  // TTL_TESTS_BENCH_WORKLOAD_ORACLE_H_
