#include "client/cpp/usage_reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "service/base/mutex.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;

constexpr std::chrono::milliseconds kInterval(5);
constexpr std::chrono::hours kNever(1);

double Seconds(const v1::ReportUsageRequest& request) {
  return static_cast<double>(request.period().seconds()) + request.period().nanos() * 1e-9;
}

// Takes reports, and answers them as told.
class Sidecar {
 public:
  UsageReporter::Send Send() {
    return [this](const v1::ReportUsageRequest& request) {
      const MutexLock lock(mutex_);
      reports_.push_back(request);
      return answer_;
    };
  }

  void AnswerFromNowOn(absl::Status answer) {
    const MutexLock lock(mutex_);
    answer_ = std::move(answer);
  }

  std::vector<v1::ReportUsageRequest> Reports(const std::string& container = "c") const {
    const MutexLock lock(mutex_);
    std::vector<v1::ReportUsageRequest> reports;
    for (const auto& report : reports_) {
      if (report.container() == container) reports.push_back(report);
    }
    return reports;
  }

  double Units(const std::string& container = "c") const {
    double units = 0;
    for (const auto& report : Reports(container)) units += report.request_units();
    return units;
  }

  bool WaitForReports(size_t count, const std::string& container = "c") const {
    return WaitUntil([&] { return Reports(container).size() >= count; });
  }

 private:
  mutable Mutex mutex_;
  std::vector<v1::ReportUsageRequest> reports_ ABSL_GUARDED_BY(mutex_);
  absl::Status answer_ ABSL_GUARDED_BY(mutex_);
};

TEST(UsageReporterTest, AddsUpWhatWasUsedBetweenReports) {
  Sidecar sidecar;
  UsageReporter reporter(kInterval, sidecar.Send());
  reporter.Add("c", 1);
  reporter.Add("c", 2.5);
  reporter.Add("d", 7);
  ASSERT_TRUE(WaitUntil([&] { return sidecar.Units("c") == 3.5 && sidecar.Units("d") == 7; }));
  reporter.Add("c", 4);
  EXPECT_TRUE(WaitUntil([&] { return sidecar.Units("c") == 7.5; }));
}

TEST(UsageReporterTest, ReportsZeroWhenNothingWasUsed) {
  Sidecar sidecar;
  UsageReporter reporter(kInterval, sidecar.Send());
  reporter.Add("c", 5);
  ASSERT_TRUE(sidecar.WaitForReports(4));
  EXPECT_EQ(sidecar.Units(), 5);
  EXPECT_EQ(sidecar.Reports().back().request_units(), 0);
}

TEST(UsageReporterTest, ReportsNothingOfContainersThatWereNeverUsed) {
  Sidecar sidecar;
  UsageReporter reporter(kInterval, sidecar.Send());
  reporter.Add("c", 5);
  ASSERT_TRUE(sidecar.WaitForReports(2));
  EXPECT_THAT(sidecar.Reports("d"), IsEmpty());
}

TEST(UsageReporterTest, PeriodsFollowOneAnotherWithoutAGap) {
  Sidecar sidecar;
  const auto begin = std::chrono::steady_clock::now();
  UsageReporter reporter(kInterval, sidecar.Send());
  reporter.Add("c", 1);
  ASSERT_TRUE(sidecar.WaitForReports(5));
  const std::vector<v1::ReportUsageRequest> reports = sidecar.Reports();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  double sum = 0;
  for (const auto& report : reports) sum += Seconds(report);
  EXPECT_THAT(sum, AllOf(Ge(5 * 0.005), Le(elapsed.count())));
}

TEST(UsageReporterTest, WhatCouldNotBeReportedIsKeptWithItsTime) {
  Sidecar sidecar;
  sidecar.AnswerFromNowOn(absl::UnavailableError("down"));
  UsageReporter reporter(kInterval, sidecar.Send());
  reporter.Add("c", 5);
  ASSERT_TRUE(sidecar.WaitForReports(4));
  reporter.Add("c", 2);
  // Else one that was put together before would be taken.
  ASSERT_TRUE(WaitUntil([&] { return sidecar.Reports().back().request_units() == 7; }));
  sidecar.AnswerFromNowOn(absl::OkStatus());
  // The report that was taken is the one before the first that tells of nothing.
  ASSERT_TRUE(WaitUntil([&] { return sidecar.Reports().back().request_units() == 0; }));
  const std::vector<v1::ReportUsageRequest> reports = sidecar.Reports();
  const auto taken = std::find_if(reports.rbegin(), reports.rend(),
                                  [](const auto& report) { return report.request_units() > 0; });
  EXPECT_EQ(taken->request_units(), 7);
  EXPECT_GE(Seconds(*taken), 4 * 0.005);
}

TEST(UsageReporterTest, AContainerThatIsNotKnownIsDroppedUntilItIsUsedAgain) {
  Sidecar sidecar;
  sidecar.AnswerFromNowOn(absl::NotFoundError("no such container"));
  UsageReporter reporter(kInterval, sidecar.Send());
  reporter.Add("gone", 5);
  ASSERT_TRUE(sidecar.WaitForReports(1, "gone"));
  sidecar.AnswerFromNowOn(absl::OkStatus());
  reporter.Add("c", 1);
  ASSERT_TRUE(sidecar.WaitForReports(3, "c"));
  EXPECT_THAT(sidecar.Reports("gone"), SizeIs(1));
  reporter.Add("gone", 2);
  EXPECT_TRUE(sidecar.WaitForReports(2, "gone"));
  EXPECT_EQ(sidecar.Reports("gone")[1].request_units(), 2);
}

TEST(UsageReporterTest, UnitsThatAreNoneAreNotCounted) {
  Sidecar sidecar;
  UsageReporter reporter(kInterval, sidecar.Send());
  reporter.Add("c", 3);
  for (const double units :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    reporter.Add("c", units);
  }
  ASSERT_TRUE(sidecar.WaitForReports(3));
  EXPECT_EQ(sidecar.Units(), 3);
}

TEST(UsageReporterTest, ManyThreadsLoseNothing) {
  Sidecar sidecar;
  UsageReporter reporter(kInterval, sidecar.Send());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&reporter] {
      for (int j = 0; j < 5000; ++j) reporter.Add("c", 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(WaitUntil([&] { return sidecar.Units() == 20000; }));
}

TEST(UsageReporterTest, ReportersAreToldApart) {
  Sidecar sidecar;
  UsageReporter a(kInterval, sidecar.Send());
  UsageReporter b(kInterval, sidecar.Send());
  a.Add("c", 1);
  b.Add("c", 1);
  std::set<std::string> names;
  EXPECT_TRUE(WaitUntil([&] {
    for (const auto& report : sidecar.Reports()) names.insert(report.reporter());
    return names.size() == 2;
  }));
  for (const std::string& name : names) EXPECT_THAT(name, SizeIs(16));
}

TEST(UsageReporterTest, FurtherContainersThanItKeepsAreNotReported) {
  Sidecar sidecar;
  UsageReporter reporter(kInterval, sidecar.Send());
  for (size_t i = 0; i < UsageReporter::kMaxContainers; ++i) reporter.Add(absl::StrCat(i), 1);
  reporter.Add("one too many", 1);
  ASSERT_TRUE(sidecar.WaitForReports(1, "0"));
  ASSERT_TRUE(sidecar.WaitForReports(2, "1"));
  EXPECT_THAT(sidecar.Reports("one too many"), IsEmpty());
}

TEST(UsageReporterTest, StopsAtOnceBetweenReports) {
  Sidecar sidecar;
  const auto begin = std::chrono::steady_clock::now();
  {
    UsageReporter reporter(kNever, sidecar.Send());
    reporter.Add("c", 1);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
  EXPECT_THAT(sidecar.Reports(), IsEmpty());
}

}  // namespace
}  // namespace ttl
