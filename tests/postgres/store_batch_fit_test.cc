#include <gtest/gtest.h>

#include "client/postgres/store/deletes/batch_fit.h"

namespace ttl::postgres {
namespace {

TEST(BatchFitTest, HalvesDownToOneRowAndGrowsSlowly) {
  BatchFit fit;
  EXPECT_EQ(fit.max_rows(), 1000);
  fit.Overran(500);
  EXPECT_EQ(fit.max_rows(), 250);
  fit.Overran(400);  // of a call beside this one
  EXPECT_EQ(fit.max_rows(), 200);
  for (int i = 0; i < 10; ++i) fit.Overran(fit.max_rows());
  EXPECT_EQ(fit.max_rows(), 1);
  fit.FittedEasily(1);
  EXPECT_EQ(fit.max_rows(), 2);
  fit.FittedEasily(1);  // that says nothing of two
  EXPECT_EQ(fit.max_rows(), 2);
  fit.FittedEasily(2);
  EXPECT_EQ(fit.max_rows(), 3);
  for (int i = 0; i < 100; ++i) fit.FittedEasily(fit.max_rows());
  EXPECT_EQ(fit.max_rows(), 1000);
}

}  // namespace
}  // namespace ttl::postgres
