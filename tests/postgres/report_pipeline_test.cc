#include "client/postgres/capture/reports/report_pipeline.h"

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using testing::HasSubstr;

// A sidecar's stream of reports, in memory: it refuses items with ts 13 and deletes of the id
// "bad", and answers when it may.
class FakeSidecar : public v1::ItemService::Service {
 public:
  FakeSidecar() {
    grpc::ServerBuilder builder;
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    stub_ = v1::ItemService::NewStub(server_->InProcessChannel({}));
  }
  ~FakeSidecar() override {
    Hold(false);
    server_->Shutdown(std::chrono::system_clock::now());
  }

  grpc::Status StreamTrackItems(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::StreamTrackItemsResponse, v1::StreamTrackItemsRequest>* stream)
      override {
    v1::StreamTrackItemsRequest request;
    while (stream->Read(&request)) {
      std::unique_lock lock(mutex_);
      ++messages_;
      changed_.wait(lock, [this] { return !hold_; });
      if (end_stream_) return grpc::Status(grpc::StatusCode::INTERNAL, "broken off");
      const v1::StreamTrackItemsResponse response = Apply(request);
      lock.unlock();
      stream->Write(response);
    }
    return grpc::Status::OK;
  }

  v1::ItemService::Stub& stub() { return *stub_; }

  void Hold(bool hold) {
    const std::lock_guard lock(mutex_);
    hold_ = hold;
    changed_.notify_all();
  }
  // The message after so many is answered with that error, and the rest too.
  void FailAfter(int messages, absl::StatusCode code) {
    const std::lock_guard lock(mutex_);
    fail_after_ = messages;
    code_ = code;
  }
  void EndStream() {
    const std::lock_guard lock(mutex_);
    end_stream_ = true;
  }
  int messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  size_t tracked() const {
    const std::lock_guard lock(mutex_);
    return tracked_.size();
  }
  std::optional<uint64_t> Sequence(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = tracked_.find(id);
    if (found == tracked_.end()) return std::nullopt;
    return found->second;
  }

 private:
  v1::StreamTrackItemsResponse Apply(const v1::StreamTrackItemsRequest& request) {
    v1::StreamTrackItemsResponse response;
    if (fail_after_.has_value() && (*fail_after_)-- <= 0) {
      response.mutable_error()->set_code(static_cast<int>(code_));
      response.mutable_error()->set_message("as scripted");
      return response;
    }
    for (const v1::Item& item : request.request().items()) {
      if (item.ts() == 13) return Refusal();
    }
    for (const v1::ItemDeletion& item : request.untrack().items()) {
      if (item.id() == "bad") return Refusal();
    }
    for (const v1::ItemDeletion& item : request.untrack().items()) {
      const auto found = tracked_.find(item.id());
      if (found != tracked_.end() && found->second <= item.sequence()) tracked_.erase(found);
    }
    for (const v1::Item& item : request.request().items()) {
      uint64_t& sequence = tracked_[item.id()];
      sequence = std::max(sequence, item.sequence());
    }
    response.mutable_response();
    return response;
  }

  static v1::StreamTrackItemsResponse Refusal() {
    v1::StreamTrackItemsResponse response;
    response.mutable_error()->set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
    response.mutable_error()->set_message("impossible");
    return response;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_.
  bool hold_ = false;
  bool end_stream_ = false;
  int messages_ = 0;
  std::optional<int> fail_after_;
  absl::StatusCode code_ = absl::StatusCode::kOk;
  std::map<std::string, uint64_t> tracked_;  // sequence by id

  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::ItemService::Stub> stub_;
};

constexpr absl::Time kSendTime = absl::FromUnixSeconds(1'700'000'000);

class ReportPipelineTest : public testing::Test {
 protected:
  void Open(ReportPipeline::Options options = {}) {
    options.address = "here";
    pipeline_ = std::make_unique<ReportPipeline>(
        sidecar_.stub(), options, [] { return kSendTime; },
        [this] {
          const std::lock_guard lock(mutex_);
          ++changes_;
        });
  }
  void Track(const std::string& id, uint64_t sequence, int64_t ts = 1) {
    v1::Item item;
    item.set_id(id);
    item.set_ts(ts);
    item.set_sequence(sequence);
    pipeline_->Add("c", Report::Tracked(item));
  }
  void Untrack(const std::string& id, uint64_t sequence) {
    pipeline_->Add("c", Report::Gone("", id, sequence));
  }
  // Whether all is durable soon.
  bool Settles() {
    return WaitUntil([this] {
      pipeline_->Flush(absl::InfiniteFuture());
      return pipeline_->durable() == pipeline_->added();
    });
  }
  bool Fails() {
    return WaitUntil([this] { return !pipeline_->status().ok(); });
  }

  FakeSidecar sidecar_;
  std::mutex mutex_;
  int changes_ = 0;  // guarded by mutex_
  std::unique_ptr<ReportPipeline> pipeline_;
};

TEST_F(ReportPipelineTest, DurableIsWhatWasAnswered) {
  Open();
  sidecar_.Hold(true);
  Track("a", 1);
  EXPECT_EQ(pipeline_->added(), 1u);
  pipeline_->Flush(absl::Now());
  ASSERT_TRUE(WaitUntil([&] { return sidecar_.messages() == 1; }));
  EXPECT_EQ(pipeline_->durable(), 0u);
  EXPECT_EQ(pipeline_->waiting_for_answer(kSendTime + absl::Seconds(5)), absl::Seconds(5));
  sidecar_.Hold(false);
  EXPECT_TRUE(Settles());
  EXPECT_EQ(sidecar_.Sequence("a"), 1u);
  EXPECT_EQ(pipeline_->waiting_for_answer(kSendTime + absl::Seconds(5)), absl::ZeroDuration());
}

TEST_F(ReportPipelineTest, WhatIsNotSentIsNotDurable) {
  Open();
  Track("a", 1);
  pipeline_->Add("other", Report::Gone("", "b", 2));
  EXPECT_EQ(pipeline_->durable(), 0u);
  EXPECT_TRUE(Settles());
  Track("a", 3);
  EXPECT_EQ(pipeline_->durable(), 2u);
}

TEST_F(ReportPipelineTest, BatchThatWasBegunFirstAndSentLastHoldsTheCountBack) {
  Open();
  pipeline_->Add("slow", Report::Gone("", "x", 1));
  for (size_t i = 0; i < ReportBatch::kMaxReports; ++i) Track(absl::StrCat(i), 2);
  ASSERT_TRUE(WaitUntil([&] { return sidecar_.tracked() == ReportBatch::kMaxReports; }));
  EXPECT_EQ(pipeline_->durable(), 0u);
  EXPECT_TRUE(Settles());
}

TEST_F(ReportPipelineTest, HoldsNoMoreThanItMay) {
  ReportPipeline::Options options;
  options.max_in_flight = 3;
  options.max_waiting = 2;
  Open(options);
  sidecar_.Hold(true);
  uint64_t sequence = 0;
  while (pipeline_->HasRoom()) Track(absl::StrCat(sequence), sequence + 1), ++sequence;
  EXPECT_EQ(sequence, 5 * ReportBatch::kMaxReports);
  sidecar_.Hold(false);
  EXPECT_TRUE(Settles());
  EXPECT_EQ(sidecar_.tracked(), sequence);
}

TEST_F(ReportPipelineTest, FirstErrorEndsItWithWhatIsDurable) {
  Open();
  sidecar_.FailAfter(1, absl::StatusCode::kResourceExhausted);
  for (size_t i = 0; i < 3 * ReportBatch::kMaxReports; ++i) Track(absl::StrCat(i), 1);
  ASSERT_TRUE(Fails());
  EXPECT_TRUE(absl::IsResourceExhausted(pipeline_->status())) << pipeline_->status();
  EXPECT_THAT(pipeline_->status().message(), HasSubstr("as scripted"));
  EXPECT_EQ(pipeline_->durable(), ReportBatch::kMaxReports);
  // Told a moment after it can be seen.
  EXPECT_TRUE(WaitUntil([this] {
    const std::lock_guard lock(mutex_);
    return changes_ > 0;
  }));
}

TEST_F(ReportPipelineTest, WhatComesBetweenTwoFlushesGoesTogether) {
  ReportPipeline::Options options;
  options.flush_pause = absl::Seconds(10);
  Open(options);
  const absl::Time start = absl::UnixEpoch();
  EXPECT_EQ(pipeline_->flush_due(), absl::InfiniteFuture());
  Track("a", 1);
  EXPECT_LE(pipeline_->flush_due(), start);
  pipeline_->Flush(start);
  ASSERT_TRUE(WaitUntil([&] { return pipeline_->durable() == 1; }));

  Track("b", 2);
  EXPECT_EQ(pipeline_->flush_due(), start + absl::Seconds(10));
  pipeline_->Flush(start + absl::Milliseconds(9999));
  Track("c", 3);
  pipeline_->Flush(start + absl::Seconds(10));
  EXPECT_EQ(pipeline_->flush_due(), absl::InfiniteFuture());
  ASSERT_TRUE(WaitUntil([&] { return pipeline_->durable() == 3; }));
  EXPECT_EQ(sidecar_.messages(), 2);
}

TEST_F(ReportPipelineTest, FlushThatWouldSendNothingIsNotWaitedFor) {
  ReportPipeline::Options options;
  options.few_in_flight = 1;
  Open(options);
  sidecar_.Hold(true);
  Track("a", 1);
  pipeline_->Flush(absl::Now());
  Track("b", 2);
  EXPECT_EQ(pipeline_->flush_due(), absl::InfiniteFuture());
  sidecar_.Hold(false);
  EXPECT_TRUE(WaitUntil([&] { return pipeline_->flush_due() < absl::InfiniteFuture(); }));
}

TEST_F(ReportPipelineTest, StreamThatEndsIsAnError) {
  Open();
  sidecar_.EndStream();
  Track("a", 1);
  pipeline_->Flush(absl::Now());
  ASSERT_TRUE(Fails());
  EXPECT_THAT(pipeline_->status().message(), HasSubstr("broken off"));
  EXPECT_EQ(pipeline_->durable(), 0u);
}

TEST_F(ReportPipelineTest, ImpossibleReportIsUntrackedAndKeepsNobodyBack) {
  Open();
  Track("bad one", 1);
  ASSERT_TRUE(Settles());
  for (size_t i = 0; i < ReportBatch::kMaxReports; ++i) {
    Track(i == 617 ? "bad one" : absl::StrCat(i), 5, i == 617 ? 13 : 1);
  }
  ASSERT_TRUE(Settles());
  EXPECT_EQ(sidecar_.tracked(), ReportBatch::kMaxReports - 1);
  EXPECT_EQ(sidecar_.Sequence("bad one"), std::nullopt);
  EXPECT_EQ(pipeline_->refused(), 1);
  EXPECT_TRUE(pipeline_->status().ok());
}

TEST_F(ReportPipelineTest, WhatFollowsARefusalIsAppliedAfterIt) {
  Open();
  sidecar_.Hold(true);
  // The message with the impossible one is tried again after the next ones were applied.
  for (size_t i = 0; i < ReportBatch::kMaxReports; ++i) Track(absl::StrCat(i), 5, i == 3 ? 13 : 1);
  for (size_t i = 0; i < ReportBatch::kMaxReports; ++i) Untrack(absl::StrCat(i), 6);
  Track("3", 7);
  pipeline_->Flush(absl::Now());
  ASSERT_TRUE(WaitUntil([&] { return sidecar_.messages() > 0; }));
  sidecar_.Hold(false);
  ASSERT_TRUE(Settles());
  EXPECT_EQ(sidecar_.tracked(), 1u);
  EXPECT_EQ(sidecar_.Sequence("3"), 7u);
  EXPECT_EQ(pipeline_->refused(), 1);
}

TEST_F(ReportPipelineTest, RefusedDeleteIsAnError) {
  Open();
  Untrack("bad", 1);
  pipeline_->Flush(absl::Now());
  ASSERT_TRUE(Fails());
  EXPECT_TRUE(absl::IsInvalidArgument(pipeline_->status()));
  EXPECT_THAT(pipeline_->status().message(), HasSubstr("impossible"));
}

TEST_F(ReportPipelineTest, EndsWithoutWaitingForAnswers) {
  Open();
  sidecar_.Hold(true);
  Track("a", 1);
  pipeline_->Flush(absl::Now());
  ASSERT_TRUE(WaitUntil([&] { return sidecar_.messages() == 1; }));
  pipeline_.reset();
  sidecar_.Hold(false);
}

}  // namespace
}  // namespace ttl::postgres
