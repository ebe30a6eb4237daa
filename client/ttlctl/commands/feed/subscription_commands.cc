#include "client/ttlctl/commands/feed/subscription_commands.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/feed/event_kinds_option.h"
#include "client/ttlctl/commands/state_command.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/input/key_text.h"
#include "client/ttlctl/text/feed/feed_text.h"
#include "ttl/feed_client.h"

namespace ttl {
namespace {

struct SubscriptionArguments {
  v1::Subscription subscription;
};

struct AcknowledgeArguments : SubscriptionArguments {
  uint64_t sequence = 0;
  std::optional<uint64_t> epoch;  // absent: that of the present log
};

struct ListSubscriptionsArguments {
  std::string container;  // empty: all
};

ExitCode CreateSubscription(Session& session, const SubscriptionArguments& arguments) {
  const auto created = session.client().feed().CreateSubscription(arguments.subscription);
  if (!created.ok()) return session.Fail(created.status());
  session.Print(*created, SubscriptionText(*created));
  return ExitCode::kOk;
}

ExitCode GetSubscription(Session& session, const SubscriptionArguments& arguments) {
  const v1::Subscription& named = arguments.subscription;
  const auto found = session.client().feed().GetSubscription(named.container(), named.name());
  if (!found.ok()) return session.Fail(found.status());
  session.Print(*found, SubscriptionText(*found));
  return ExitCode::kOk;
}

ExitCode DeleteSubscription(Session& session, const SubscriptionArguments& arguments) {
  const v1::Subscription& named = arguments.subscription;
  const absl::Status deleted =
      session.client().feed().DeleteSubscription(named.container(), named.name());
  if (!deleted.ok()) return session.Fail(deleted);
  session.Print(v1::DeleteSubscriptionResponse(),
                absl::StrCat("deleted subscription ", named.name(), " of container ",
                             named.container(), ", and how far it had acknowledged\n"));
  return ExitCode::kOk;
}

ExitCode ListSubscriptions(Session& session, const ListSubscriptionsArguments& arguments) {
  const auto all = session.client().feed().ListSubscriptions(arguments.container);
  if (!all.ok()) return session.Fail(all.status());
  if (all->empty() && !session.structured()) session.PrintText("no subscriptions\n");
  Table table = SubscriptionTable();
  for (const v1::Subscription& subscription : *all) {
    if (session.structured()) session.Print(subscription, "");
    AddSubscriptionRow(subscription, table);
  }
  if (!all->empty() && !session.structured()) session.PrintText(table.Render());
  return ExitCode::kOk;
}

ExitCode AcknowledgeEvents(Session& session, const AcknowledgeArguments& arguments) {
  FeedClient& feed = session.client().feed();
  const std::string& container = arguments.subscription.container();
  const std::string& name = arguments.subscription.name();
  uint64_t epoch = arguments.epoch.value_or(0);
  if (!arguments.epoch.has_value()) {
    const auto present = feed.GetSubscription(container, name);
    if (!present.ok()) return session.Fail(present.status());
    epoch = present->epoch();
  }
  const auto acknowledged = feed.Acknowledge(container, name, epoch, arguments.sequence);
  if (!acknowledged.ok()) return session.Fail(acknowledged.status());
  v1::AcknowledgeResponse response;
  response.set_acknowledged_sequence(*acknowledged);
  session.Print(response, absl::StrCat("subscription ", name, " of container ", container,
                                       " has acknowledged up to sequence ", *acknowledged, "\n"));
  return ExitCode::kOk;
}

uint64_t ParseUnsigned(const std::string& option, const std::string& text) {
  uint64_t value;
  if (!absl::SimpleAtoi(text, &value)) RefuseNumber(option, text, "a whole number from 0 on");
  return value;
}

void AddSubscriptionName(CLI::App& command, v1::Subscription& subscription) {
  AddContainerId(command, "CONTAINER",
                 [&subscription](std::string id) { subscription.set_container(std::move(id)); });
  AddParsedOption(command, "SUBSCRIPTION", "Name of the subscription", "TEXT",
                  [&subscription](const std::string& text) {
                    if (text.empty() || !IsUtf8(text)) {
                      throw CLI::ValidationError(
                          "SUBSCRIPTION", "the name of a subscription is 1 to 255 bytes of UTF-8");
                    }
                    subscription.set_name(text);
                  })
      ->required();
}

void AddCreateSubscription(CLI::App& subscriptions, Command& chosen) {
  auto arguments = std::make_shared<SubscriptionArguments>();
  CLI::App* create = AddCommand(subscriptions, "create",
                                "Create a subscription, which begins behind the last event; "
                                "deletes can wait for it",
                                arguments, CreateSubscription, chosen);
  v1::Subscription& subscription = arguments->subscription;
  AddSubscriptionName(*create, subscription);
  AddEventKindsOption(*create, "Kinds of events that it reads, with commas between; default: all",
                      *subscription.mutable_kinds());
  AddParsedOption(*create, "--consumer",
                  "Identity that alone may acknowledge, such as cn:shipping; default: any with the "
                  "role",
                  "TEXT",
                  [&subscription](const std::string& text) { subscription.set_consumer(text); });
  CLI::Option* gate = create->add_flag_callback(
      "--gate", [&subscription] { subscription.set_gate(true); },
      "Delete an item only after this subscription has acknowledged the item's expiry; it begins "
      "at the oldest event that is kept");
  AddDurationOption(
      *create, "--give-up-after",
      "How long an item waits for it while the sidecar runs, such as 7d; default: for "
      "ever",
      [&subscription](int64_t seconds) {
        subscription.mutable_give_up_after()->set_seconds(seconds);
      })
      ->needs(gate);
}

void AddListSubscriptions(CLI::App& subscriptions, Command& chosen) {
  auto arguments = std::make_shared<ListSubscriptionsArguments>();
  CLI::App* list =
      AddStateCommand(subscriptions, "list", "Show the subscriptions of a container, or all",
                      arguments, ListSubscriptions, chosen);
  AddTextOption(*list, "CONTAINER", "Id of a container; default: all containers",
                arguments->container)
      ->type_name(kContainerType);
}

void AddAcknowledge(CLI::App& subscriptions, Command& chosen) {
  auto arguments = std::make_shared<AcknowledgeArguments>();
  CLI::App* acknowledge = AddCommand(subscriptions, "acknowledge",
                                     "State that all events up to a sequence are dealt with",
                                     arguments, AcknowledgeEvents, chosen);
  AddSubscriptionName(*acknowledge, arguments->subscription);
  AddParsedOption(*acknowledge, "SEQUENCE", "Sequence of the last event dealt with", "N",
                  [arguments = arguments.get()](const std::string& text) {
                    arguments->sequence = ParseUnsigned("SEQUENCE", text);
                  })
      ->required();
  AddParsedOption(*acknowledge, "--epoch",
                  "Refuse if the log is another one than this; default: the present one", "N",
                  [arguments = arguments.get()](const std::string& text) {
                    arguments->epoch = ParseUnsigned("--epoch", text);
                  });
  acknowledge->footer(
      "A subscription that has lost events goes on when it has acknowledged the last_sequence "
      "that\n"
      "it had before a comparison with the store.\n");
}

}  // namespace

void AddSubscriptionCommands(CLI::App& app, Command& chosen) {
  CLI::App* subscriptions =
      app.add_subcommand("subscriptions", "Named readers of the feed of a container");
  subscriptions->require_subcommand(1);
  AddCreateSubscription(*subscriptions, chosen);
  AddListSubscriptions(*subscriptions, chosen);
  auto get_arguments = std::make_shared<SubscriptionArguments>();
  AddSubscriptionName(*AddStateCommand(*subscriptions, "get", "Show one subscription",
                                       get_arguments, GetSubscription, chosen),
                      get_arguments->subscription);
  auto delete_arguments = std::make_shared<SubscriptionArguments>();
  AddSubscriptionName(
      *AddCommand(*subscriptions, "delete", "Delete a subscription; items no longer wait for it",
                  delete_arguments, DeleteSubscription, chosen),
      delete_arguments->subscription);
  AddAcknowledge(*subscriptions, chosen);
}

}  // namespace ttl
