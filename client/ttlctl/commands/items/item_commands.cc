#include "client/ttlctl/commands/items/item_commands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/items/touch_command.h"
#include "client/ttlctl/commands/key_help.h"
#include "client/ttlctl/commands/state_command.h"
#include "client/ttlctl/text/item_text.h"
#include "ttl/operator_client.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

constexpr int64_t kMaxPageSize = 1000;
constexpr int64_t kDefaultListLimit = 100;

struct TrackArguments {
  std::string container;
  v1::Item item;
};

struct UntrackArguments {
  std::string container;
  v1::ItemDeletion deletion;
};

struct CheckArguments {
  std::string container;
  std::vector<std::string> ids;
  // The fields that all checks share: all except the id.
  v1::VisibilityCheck shared;
  std::optional<int64_t> as_of;
};

struct ExplainArguments {
  std::string container;
  std::string partition_key;
  std::string id;
};

struct ListItemsArguments {
  v1::ListItemsRequest request;
  int64_t limit = kDefaultListLimit;
};

ExitCode Track(Session& session, const TrackArguments& arguments) {
  const auto result = session.client().TrackItem(arguments.container, arguments.item);
  if (!result.ok()) return session.Fail(result.status());
  v1::TrackItemsResponse response;
  response.add_results(*result);
  session.Print(response, *result == v1::TRACK_RESULT_STALE
                              ? "stale: a newer report is tracked; nothing changed\n"
                              : "tracked\n");
  return ExitCode::kOk;
}

absl::string_view UntrackText(v1::UntrackResult result) {
  switch (result) {
    case v1::UNTRACK_RESULT_STALE:
      return "stale: a newer version is tracked and was kept\n";
    case v1::UNTRACK_RESULT_NOT_TRACKED:
      return "was not tracked\n";
    default:
      return "untracked\n";
  }
}

ExitCode Untrack(Session& session, const UntrackArguments& arguments) {
  const auto result = session.client().UntrackItem(arguments.container, arguments.deletion);
  if (!result.ok()) return session.Fail(result.status());
  v1::UntrackItemsResponse response;
  response.add_results(*result);
  session.Print(response, UntrackText(*result));
  return ExitCode::kOk;
}

v1::CheckVisibilityResponse ToResponse(const std::vector<VisibilityAnswer>& answers) {
  v1::CheckVisibilityResponse response;
  for (const VisibilityAnswer& answer : answers) {
    response.add_visibilities(answer.visibility);
    response.add_expire_times(answer.expire_time.value_or(0));
    *response.mutable_judged_at() = ToTimestamp(answer.judged_at);
  }
  return response;
}

ExitCode CodeFor(const std::vector<VisibilityAnswer>& answers) {
  const auto any = [&](v1::Visibility visibility) {
    return std::any_of(answers.begin(), answers.end(), [&](const VisibilityAnswer& answer) {
      return answer.visibility == visibility;
    });
  };
  if (any(v1::VISIBILITY_EXPIRED)) return ExitCode::kExpired;
  if (any(v1::VISIBILITY_UNTRACKED)) return ExitCode::kUntracked;
  return ExitCode::kOk;
}

ExitCode Check(Session& session, const CheckArguments& arguments) {
  std::vector<v1::VisibilityCheck> checks;
  for (const std::string& id : arguments.ids) {
    checks.push_back(arguments.shared);
    checks.back().set_id(id);
  }
  const auto answers =
      arguments.as_of.has_value()
          ? session.client().CheckVisibility(arguments.container, checks,
                                             absl::FromUnixSeconds(*arguments.as_of))
          : session.client().CheckVisibility(arguments.container, checks);
  if (!answers.ok()) return session.Fail(answers.status());
  session.Print(ToResponse(*answers), AnswersText(checks, *answers));
  return CodeFor(*answers);
}

ExitCode Explain(Session& session, const ExplainArguments& arguments) {
  const auto response = session.client().operations().ExplainItem(
      arguments.container, arguments.partition_key, arguments.id);
  if (!response.ok()) return session.Fail(response.status());
  session.Print(*response, ExplanationText(arguments.container, *response));
  return ExitCode::kOk;
}

void PrintPage(Session& session, const v1::ListItemsResponse& page, Table& table) {
  for (const v1::ItemView& view : page.items()) {
    if (session.structured()) session.Print(view, "");
    AddItemRow(view, table);
  }
  const std::string text = table.Render();
  if (!session.structured()) session.PrintText(text);
}

ExitCode ListItems(Session& session, const ListItemsArguments& arguments) {
  v1::ListItemsRequest request = arguments.request;
  Table table = ItemTable();
  int64_t listed = 0;
  bool is_in_doubt = false;
  do {
    // Stop after the page that reaches the limit.
    request.set_page_size(static_cast<int32_t>(
        arguments.limit == 0 ? kMaxPageSize : std::min(kMaxPageSize, arguments.limit - listed)));
    const auto page = session.client().ListItems(request);
    if (!page.ok()) return session.Fail(page.status());
    PrintPage(session, *page, table);
    listed += page->items_size();
    is_in_doubt = is_in_doubt || page->data_in_doubt();
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && (arguments.limit == 0 || listed < arguments.limit));
  if (!request.page_token().empty()) {
    session.terminal().err << "more may follow: --limit 0 lists all\n";
  }
  if (is_in_doubt) {
    session.terminal().err << "ttlctl: warning: the tracked data is in doubt (see ttlctl status)\n";
  }
  return ExitCode::kOk;
}

template <typename Message>
void AddKeyAndVersion(CLI::App& command, std::string& container, Message& message) {
  AddContainerId(command, "CONTAINER", [&](std::string id) { container = std::move(id); });
  AddKeyOption(command, "ID", "Id of the item", [&](std::string id) {
    message.set_id(std::move(id));
  })->required();
  AddKeyOption(command, "--partition-key", "Partition key of the item; none if not given",
               [&](std::string key) { message.set_partition_key(std::move(key)); });
  AddIntegerOption(command, "--ts", "Time of the item's last modification in Unix seconds",
                   [&](int64_t ts) { message.set_ts(ts); })
      ->required();
  AddParsedOption(command, "--sequence", "Position of the write in the store's own order", "N",
                  [&](const std::string& text) {
                    uint64_t sequence;
                    if (!absl::SimpleAtoi(text, &sequence)) {
                      throw CLI::ValidationError(
                          "--sequence",
                          absl::StrCat("\"", text, "\" must be 0 to 18446744073709551615"));
                    }
                    message.set_sequence(sequence);
                  });
}

void AddTrack(CLI::App& items, Command& chosen) {
  auto arguments = std::make_shared<TrackArguments>();
  CLI::App* command = AddCommand(items, "track", "Report a write of an item, as its store would",
                                 arguments, Track, chosen);
  v1::Item& item = arguments->item;
  AddKeyAndVersion(*command, arguments->container, item);
  AddDurationOption(*command, "--ttl",
                    "The item's own time to live in seconds or as 90m, 1h30m, 30d; -1: it never "
                    "expires; default: the container's default_ttl",
                    [&item](int64_t ttl) { item.set_ttl(ttl); });
  AddIntegerOption(*command, "--expire-at",
                   "When the item ends in Unix seconds: it expires at the earlier of --ts + --ttl "
                   "and this, and the container's default does not count",
                   [&item](int64_t expire_at) { item.set_expire_at(expire_at); });
  AddKeyOption(*command, "--etag", "Version of the item in the store",
               [&item](std::string etag) { item.set_etag(std::move(etag)); });
  AddIntegerOption(*command, "--size-bytes", "Size of the item",
                   [&item](int64_t size) { item.set_size_bytes(size); });
}

void AddUntrack(CLI::App& items, Command& chosen) {
  auto arguments = std::make_shared<UntrackArguments>();
  CLI::App* command = AddCommand(items, "untrack", "Report a delete made by the store itself",
                                 arguments, Untrack, chosen);
  AddKeyAndVersion(*command, arguments->container, arguments->deletion);
}

void AddCheck(CLI::App& items, Command& chosen) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command =
      AddCommand(items, "check", "Check whether items are visible now", arguments, Check, chosen);
  AddContainerId(*command, "CONTAINER", [arguments = arguments.get()](std::string id) {
    arguments->container = std::move(id);
  });
  AddKeyArguments(*command, "ID", "Ids of the items", arguments->ids);
  v1::VisibilityCheck& shared = arguments->shared;
  AddKeyOption(*command, "--partition-key", "Partition key of the items; none if not given",
               [&shared](std::string key) { shared.set_partition_key(std::move(key)); });
  CLI::Option* ts = AddIntegerOption(*command, "--ts", "Their ts, as just read from the store",
                                     [&shared](int64_t value) { shared.set_ts(value); });
  AddDurationOption(*command, "--ttl", "Their ttl, as just read from the store",
                    [&shared](int64_t value) { shared.set_ttl(value); })
      ->needs(ts);
  AddIntegerOption(*command, "--expire-at", "Their expire_at, as just read from the store",
                   [&shared](int64_t value) { shared.set_expire_at(value); })
      ->needs(ts);
  AddIntegerOption(*command, "--as-of",
                   "Evaluate at this time (Unix seconds), at most one hour ago",
                   [arguments = arguments.get()](int64_t value) { arguments->as_of = value; });
  command->footer(absl::StrCat(kKeyHelp, "\n", ExitCodeHelp()));
}

void AddExplain(CLI::App& items, Command& chosen) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command =
      AddStateCommand(items, "explain", "Show the state of an item, and why it is not deleted",
                      arguments, Explain, chosen);
  AddContainerId(*command, "CONTAINER", [arguments = arguments.get()](std::string id) {
    arguments->container = std::move(id);
  });
  AddKeyOption(*command, "ID", "Id of the item", [arguments = arguments.get()](std::string id) {
    arguments->id = std::move(id);
  })->required();
  AddKeyOption(*command, "--partition-key", "Partition key of the item; none if not given",
               [arguments = arguments.get()](std::string key) {
                 arguments->partition_key = std::move(key);
               });
}

void AddListItems(CLI::App& items, Command& chosen) {
  auto arguments = std::make_shared<ListItemsArguments>();
  CLI::App* command = AddStateCommand(items, "list", "List the live items of a container",
                                      arguments, ListItems, chosen);
  AddContainerId(*command, "CONTAINER", [arguments = arguments.get()](std::string id) {
    arguments->request.set_container(std::move(id));
  });
  command->add_flag_callback(
      "--show-expired",
      [arguments = arguments.get()] { arguments->request.set_show_expired(true); },
      "List expired items that are not yet deleted too");
  command->add_flag_callback(
      "--expired-only",
      [arguments = arguments.get()] { arguments->request.set_expired_only(true); },
      "List only expired items that are not yet deleted");
  AddKeyOption(*command, "--partition-key",
               "List only items of this partition key, which may be empty",
               [arguments = arguments.get()](std::string key) {
                 arguments->request.set_partition_key(std::move(key));
               });
  AddIntegerOption(*command, "--expire-from",
                   "List only items with an expire time from this one on, in Unix seconds",
                   [arguments = arguments.get()](int64_t value) {
                     arguments->request.set_expire_time_from(value);
                   });
  AddIntegerOption(*command, "--expire-to",
                   "List only items with an expire time before this one, in Unix seconds",
                   [arguments = arguments.get()](int64_t value) {
                     arguments->request.set_expire_time_to(value);
                   });
  AddIntegerOption(*command, "--as-of",
                   "Evaluate at this time (Unix seconds), at most one hour ago",
                   [arguments = arguments.get()](int64_t value) {
                     arguments->request.mutable_as_of()->set_seconds(value);
                   });
  AddIntegerOption(*command, "--limit", "Maximum items to list; 0: all; default: 100",
                   [arguments = arguments.get()](int64_t limit) {
                     if (limit < 0) throw CLI::ValidationError("--limit", "must not be negative");
                     arguments->limit = limit;
                   });
}

}  // namespace

void AddItemCommands(CLI::App& app, Command& chosen) {
  CLI::App* items = app.add_subcommand("items", "Show, check or report single items");
  items->require_subcommand(1);
  items->footer(kKeyHelp);  // also that of the subcommands
  AddTrack(*items, chosen);
  AddUntrack(*items, chosen);
  AddTouchCommand(*items, chosen);
  AddCheck(*items, chosen);
  AddExplain(*items, chosen);
  AddListItems(*items, chosen);
}

}  // namespace ttl
