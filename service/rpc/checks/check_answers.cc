#include "service/rpc/checks/check_answers.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstring>

#include "service/base/proto_time.h"

namespace ttl {
namespace {

using ::google::protobuf::io::CodedOutputStream;

// Fields of ttl/v1/item_service.proto, all length-delimited.
constexpr uint8_t kVisibilitiesTag = 1 << 3 | 2;
constexpr uint8_t kExpireTimesTag = 2 << 3 | 2;
constexpr uint8_t kJudgedAtTag = 3 << 3 | 2;
constexpr uint8_t kStreamedResponseTag = 1 << 3 | 2;

size_t VarintSize(uint64_t value) { return CodedOutputStream::VarintSize64(value); }

size_t FieldSize(size_t bytes) { return 1 + VarintSize(bytes) + bytes; }

uint8_t* WriteHeader(uint8_t tag, size_t bytes, uint8_t* out) {
  *out++ = tag;
  return CodedOutputStream::WriteVarint64ToArray(bytes, out);
}

}  // namespace

void CheckAnswers::Begin(absl::Time judged_at, size_t count) {
  visibilities_.clear();
  counts_ = {};
  expire_times_.clear();
  visibilities_.reserve(count);
  expire_times_.reserve(count);
  expire_times_bytes_ = 0;
  judged_at_.clear();
  ToProto(judged_at).SerializeToString(&judged_at_);
}

void CheckAnswers::Add(v1::Visibility visibility, std::optional<int64_t> expire_time) {
  const int64_t time = expire_time.value_or(0);
  visibilities_.push_back(static_cast<uint8_t>(visibility));
  ++counts_[visibility];
  expire_times_.push_back(time);
  expire_times_bytes_ += VarintSize(static_cast<uint64_t>(time));
}

void CheckAnswers::SetVisibility(size_t position, v1::Visibility visibility) {
  --counts_[visibilities_[position]];
  visibilities_[position] = static_cast<uint8_t>(visibility);
  ++counts_[visibility];
}

VerdictCounts CheckAnswers::Verdicts() const {
  return {counts_[v1::VISIBILITY_VISIBLE], counts_[v1::VISIBILITY_EXPIRED],
          counts_[v1::VISIBILITY_UNTRACKED]};
}

size_t CheckAnswers::WireSize() const {
  return FieldSize(visibilities_.size()) + FieldSize(expire_times_bytes_) +
         FieldSize(judged_at_.size());
}

size_t CheckAnswers::StreamedWireSize() const { return FieldSize(WireSize()); }

void CheckAnswers::Write(uint8_t* out) const {
  out = WriteHeader(kVisibilitiesTag, visibilities_.size(), out);
  std::memcpy(out, visibilities_.data(), visibilities_.size());
  out = WriteHeader(kExpireTimesTag, expire_times_bytes_, out + visibilities_.size());
  for (const int64_t time : expire_times_) {
    out = CodedOutputStream::WriteVarint64ToArray(static_cast<uint64_t>(time), out);
  }
  out = WriteHeader(kJudgedAtTag, judged_at_.size(), out);
  std::memcpy(out, judged_at_.data(), judged_at_.size());
}

void CheckAnswers::WriteStreamed(uint8_t* out) const {
  Write(WriteHeader(kStreamedResponseTag, WireSize(), out));
}

}  // namespace ttl
