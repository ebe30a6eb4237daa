#include "client/ttlctl/commands/containers/feed_options.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "client/ttlctl/commands/command.h"

namespace ttl {
namespace {

void SetFeed(const std::string& text, v1::Container& container) {
  if (text == "on") {
    container.mutable_feed();
  } else {
    container.clear_feed();
  }
}

void SetMaxBytes(const std::string& text, v1::FeedSettings& feed) {
  int64_t bytes;
  if (text == "default") {
    feed.clear_max_bytes();
  } else if (absl::SimpleAtoi(text, &bytes)) {
    feed.set_max_bytes(bytes);
  } else {
    RefuseNumber("--feed-max-bytes", text, "default or a whole number of bytes");
  }
}

// The settings to change. Throws a CLI::ValidationError if `option` contradicts --feed.
v1::FeedSettings& FeedFor(const std::string& option, ContainerArguments& arguments) {
  const bool is_named = absl::c_linear_search(arguments.named_fields, "feed");
  if (is_named && !arguments.container.has_feed()) {
    throw CLI::ValidationError(option, "--feed off removes the feed: leave one of them out");
  }
  return *arguments.container.mutable_feed();
}

// Options that take a duration, or a word for an absent one.
struct FeedDuration {
  const char* name;
  const char* word;
  const char* path;
  const char* help;
  google::protobuf::Duration* (v1::FeedSettings::*set)();
  void (v1::FeedSettings::*clear)();
};

constexpr FeedDuration kFeedDurations[] = {
    {"--feed-max-age", "default", "feed.max_age", "How long events are kept; default: one day",
     &v1::FeedSettings::mutable_max_age, &v1::FeedSettings::clear_max_age},
    {"--feed-notice", "none", "feed.notice",
     "How long before its expiry an item is announced; none: it is not",
     &v1::FeedSettings::mutable_notice, &v1::FeedSettings::clear_notice},
};

void AddFeedDuration(CLI::App& command, const FeedDuration& option, ContainerArguments& arguments) {
  AddParsedOption(command, option.name, option.help, std::string("DURATION|") + option.word,
                  [&arguments, &option](const std::string& text) {
                    arguments.named_fields.push_back(option.path);
                    v1::FeedSettings& feed = FeedFor(option.name, arguments);
                    if (text == option.word) {
                      (feed.*option.clear)();
                    } else {
                      (feed.*option.set)()->set_seconds(
                          ParseDuration(option.name, text, option.word, option.word));
                    }
                  });
}

}  // namespace

void AddFeedOptions(CLI::App& command, ContainerArguments& arguments) {
  // Before the others, which add to the settings: options are parsed in this order.
  AddChoiceOption(
      command, "--feed",
      "Whether what expires and what is deleted is logged, for watch and subscriptions; "
      "on: with the settings given here and the defaults of others",
      "on|off", [&arguments](const std::string& text) {
        arguments.named_fields.push_back("feed");
        SetFeed(text, arguments.container);
      });
  for (const FeedDuration& option : kFeedDurations) AddFeedDuration(command, option, arguments);
  AddParsedOption(command, "--feed-max-bytes",
                  "How many bytes of events are kept; default: 1073741824", "N|default",
                  [&arguments](const std::string& text) {
                    arguments.named_fields.push_back("feed.max_bytes");
                    SetMaxBytes(text, FeedFor("--feed-max-bytes", arguments));
                  });
}

std::string FeedOptionNames() {
  std::string names = "--feed";
  for (const FeedDuration& option : kFeedDurations) names.append(", ").append(option.name);
  return names.append(", --feed-max-bytes");
}

}  // namespace ttl
