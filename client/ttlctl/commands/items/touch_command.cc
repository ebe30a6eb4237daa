#include "client/ttlctl/commands/items/touch_command.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/key_help.h"
#include "client/ttlctl/text/item_text.h"
#include "client/ttlctl/text/shell_word.h"
#include "ttl/error_details.h"

namespace ttl {
namespace {

struct TouchArguments {
  std::string container;
  std::vector<std::string> ids;
  std::string partition_key;
  int64_t unless_within_seconds = 0;
};

v1::TouchItemsResponse TouchResponseOf(const std::vector<TouchAnswer>& answers) {
  v1::TouchItemsResponse response;
  for (const TouchAnswer& answer : answers) {
    response.add_results(answer.result);
    response.add_expire_times(answer.expire_time.value_or(0));
    response.set_touch_time(answer.touch_time);
  }
  return response;
}

ExitCode CodeForTouches(const std::vector<TouchAnswer>& answers) {
  const auto any = [&](v1::TouchResult result) {
    return std::any_of(answers.begin(), answers.end(),
                       [&](const TouchAnswer& answer) { return answer.result == result; });
  };
  if (any(v1::TOUCH_RESULT_EXPIRED)) return ExitCode::kExpired;
  if (any(v1::TOUCH_RESULT_NOT_TRACKED)) return ExitCode::kUntracked;
  return ExitCode::kOk;
}

ExitCode FailTouch(Session& session, const std::string& container, const absl::Status& status) {
  if (ErrorReason(status) != "TOUCH_NOT_ALLOWED") return session.Fail(status);
  return session.Fail(absl::Status(
      status.code(), absl::StrCat(status.message(), " (ttlctl containers set --allow-touch true ",
                                  IdArguments({container}), " allows it)")));
}

ExitCode Touch(Session& session, const TouchArguments& arguments) {
  std::vector<v1::ItemKey> keys;
  for (const std::string& id : arguments.ids) {
    v1::ItemKey& key = keys.emplace_back();
    key.set_partition_key(arguments.partition_key);
    key.set_id(id);
  }
  const auto answers = session.client().TouchItems(arguments.container, keys,
                                                   absl::Seconds(arguments.unless_within_seconds));
  if (!answers.ok()) return FailTouch(session, arguments.container, answers.status());
  session.Print(TouchResponseOf(*answers), TouchesText(keys, *answers));
  return CodeForTouches(*answers);
}

}  // namespace

void AddTouchCommand(CLI::App& items, Command& chosen) {
  auto arguments = std::make_shared<TouchArguments>();
  CLI::App* command = AddCommand(
      items, "touch", "Start the countdown of items again, as of now, without a write in the store",
      arguments, Touch, chosen);
  AddContainerId(*command, "CONTAINER", [arguments = arguments.get()](std::string id) {
    arguments->container = std::move(id);
  });
  AddKeyArguments(*command, "ID", "Ids of the items", arguments->ids);
  AddKeyOption(*command, "--partition-key", "Partition key of the items; none if not given",
               [arguments = arguments.get()](std::string key) {
                 arguments->partition_key = std::move(key);
               });
  AddDurationOption(*command, "--unless-within",
                    "Leave items alone whose countdown has started within this; default: 0",
                    [arguments = arguments.get()](int64_t seconds) {
                      arguments->unless_within_seconds = seconds;
                    });
  command->footer(
      absl::StrCat("The container must allow it: ttlctl containers set --allow-touch "
                   "true CONTAINER.\n\n",
                   kKeyHelp, "\n", ExitCodeHelp()));
}

}  // namespace ttl
