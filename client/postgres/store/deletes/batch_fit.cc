#include "client/postgres/store/deletes/batch_fit.h"

#include <algorithm>

namespace ttl::postgres {

void BatchFit::Overran(size_t rows) {
  max_rows_ = std::max<size_t>(1, std::min<size_t>(max_rows_, rows / 2));
}

void BatchFit::FittedEasily(size_t rows) {
  if (rows < max_rows_) return;
  max_rows_ = std::min(kMaxRows, rows + std::max<size_t>(1, rows / 4));
}

}  // namespace ttl::postgres
