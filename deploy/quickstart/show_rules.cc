#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "deploy/quickstart/shows.h"

namespace ttl::quickstart {
namespace {

constexpr absl::Duration kAskInterval = absl::Milliseconds(20);
// How long after the last expiry the answers are still watched.
constexpr absl::Duration kWatchAfter = absl::Milliseconds(500);

using Seconds = std::optional<int64_t>;

struct Row {
  const char* id;
  const char* label;
  Seconds ttl;
};

struct Column {
  const char* container;
  const char* label;
  Seconds default_ttl;
};

constexpr std::array<Row, 3> kRows = {{
    {"no-ttl", "no ttl", std::nullopt},
    {"ttl-never", "ttl = -1", -1},
    {"ttl-2-seconds", "ttl = 2", 2},
}};

constexpr std::array<Column, 3> kColumns = {{
    {"rules/ttl-off", "no default_ttl", std::nullopt},
    {"rules/no-default", "default_ttl = -1", -1},
    {"rules/3-seconds", "default_ttl = 3", 3},
}};

// The table as Azure Cosmos DB documents it: seconds after the last write, or
// never.
constexpr Seconds kExpiresAfter[3][3] = {
    {std::nullopt, std::nullopt, 3},
    {std::nullopt, std::nullopt, std::nullopt},
    {std::nullopt, 2, 2},
};

// One document of the table and what was seen of it.
struct Cell {
  absl::Time ts;
  absl::Time expire_time = absl::InfiniteFuture();
  std::optional<absl::Time> gone_since;
  bool agrees = true;
};

using Table = std::array<std::array<Cell, 3>, 3>;

void CreateContainers(DemoClient& client) {
  for (const Column& column : kColumns) {
    v1::Container container;
    container.set_id(column.container);
    if (column.default_ttl.has_value()) container.set_default_ttl(*column.default_ttl);
    client.CreateContainer(container);
  }
}

Table WriteDocuments(DemoClient& client) {
  Table table;
  for (size_t row = 0; row < kRows.size(); ++row) {
    for (size_t column = 0; column < kColumns.size(); ++column) {
      const auto written = client.Put(kColumns[column].container, kRows[row].id, kRows[row].ttl);
      Cell& cell = table[row][column];
      cell.ts = absl::FromUnixSeconds(written.ts());
      if (const Seconds after = kExpiresAfter[row][column]; after.has_value()) {
        cell.expire_time = cell.ts + absl::Seconds(*after);
      }
    }
  }
  return table;
}

void Judge(const Sighting& sighting, absl::string_view call, absl::string_view id, Cell& cell,
           Report& report) {
  const bool agrees = AgreesWith(sighting, cell.expire_time);
  report.Expect(agrees, absl::StrCat(call, " ", sighting.visible ? "shows " : "does not show ", id,
                                     " at ", absl::FormatTime(sighting.latest)));
  cell.agrees = cell.agrees && agrees;
  if (!sighting.visible && !cell.gone_since.has_value()) cell.gone_since = sighting.latest;
}

// Asks once for every document, by key and by query.
void AskForAll(DemoClient& client, Table& table, Report& report) {
  for (size_t column = 0; column < kColumns.size(); ++column) {
    const std::string container = kColumns[column].container;
    const Listing listing = client.Query(container);
    for (size_t row = 0; row < kRows.size(); ++row) {
      const std::string id = kRows[row].id;
      Judge(listing.Of(id), "Query", id, table[row][column], report);
      Judge(client.Get(container, id), "Get", id, table[row][column], report);
    }
  }
}

std::string Describe(const Cell& cell) {
  if (!cell.gone_since.has_value()) return "visible";
  return absl::StrFormat("gone at +%.2f s", absl::ToDoubleSeconds(*cell.gone_since - cell.ts));
}

void Print(const Table& table, Report& report) {
  report.Line(absl::StrFormat("%-11s%-20s%-20s%s", "", kColumns[0].label, kColumns[1].label,
                              kColumns[2].label));
  for (size_t row = 0; row < kRows.size(); ++row) {
    std::string line = absl::StrFormat("%-11s", kRows[row].label);
    for (const Cell& cell : table[row]) {
      const bool ended_right =
          cell.gone_since.has_value() == (cell.expire_time != absl::InfiniteFuture());
      report.Expect(ended_right, absl::StrCat(kRows[row].id, " ended as the table says"));
      const bool right = cell.agrees && ended_right;
      absl::StrAppendFormat(&line, "%-15s", Describe(cell));
      absl::StrAppend(&line, " ", report.Verdict(right), right ? "  " : "");
    }
    report.Line(line);
  }
}

}  // namespace

void ShowRules(DemoClient& client, Report& report) {
  report.Heading("1. The rules: nine documents, asked for by Get and by Query all the time");
  CreateContainers(client);
  Table table = WriteDocuments(client);
  absl::Time until = absl::InfinitePast();
  for (const auto& row : table) {
    for (const Cell& cell : row) {
      if (cell.expire_time != absl::InfiniteFuture()) until = std::max(until, cell.expire_time);
    }
  }
  const int64_t checked_before = report.checked();
  const int64_t wrong_before = report.wrong();
  for (until += kWatchAfter; absl::Now() < until; absl::SleepFor(kAskInterval)) {
    AskForAll(client, table, report);
  }
  const int64_t answers = report.checked() - checked_before;
  const int64_t wrong = report.wrong() - wrong_before;
  Print(table, report);
  report.Line(absl::StrFormat(
      "%d answers compared with the documented table, to the second: %d wrong", answers, wrong));
}

}  // namespace ttl::quickstart
