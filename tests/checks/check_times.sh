#!/usr/bin/env bash
# check_times.sh [DIR]: messages, logs and output tell a time in one format, that of
# service/base/time_text.h. Nothing else in DIR (default: the repository) may format a time, but
#   log_line.cc    when a line was logged, to the millisecond
#   delete_sql.cc  a time as SQL
#   times_check.cc a day
# Reading a time (absl::ParseTime) is not telling one.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

ways='absl::FormatTime|absl::RFC3339|strftime|put_time|std::asctime'
others='^(service/base/time_text\.h|service/log/log_line\.cc|client/postgres/store/deletes/delete_sql\.cc|client/postgres/sql/check/times_check\.cc):'
if grep -rnE "$ways" service client --include='*.cc' --include='*.h' --include='*.py' |
  grep -vE "$others|absl::ParseTime"; then
  echo "these format a time: use TimeText of service/base/time_text.h" >&2
  exit 1
fi
