// Events are printed on the thread of the watcher, which alone uses the session meanwhile. An event
// is acknowledged after it has been written, so an output that is lost loses none.
#include "client/ttlctl/commands/feed/watch_command.h"

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/feed/event_kinds_option.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/text/feed/event_text.h"
#include "ttl/container_client.h"
#include "ttl/error_details.h"
#include "ttl/event_watcher.h"
#include "ttl/feed_client.h"

namespace ttl {
namespace {

struct WatchArguments {
  std::vector<std::string> containers;  // none: all with a feed
  std::string subscription;             // empty: none
  bool acknowledges = false;
  google::protobuf::RepeatedField<int> kinds;
  std::optional<int64_t> count;
};

// Prints what a watcher tells, up to the end that WaitForEnd() waits for.
class EventPrinter {
 public:
  EventPrinter(Session& session, const WatchArguments& arguments)
      : session_(session), arguments_(arguments) {}

  EventHandlers handlers() {
    return {.on_response = [this](const auto& response) { Print(response); },
            .on_break = [this](const absl::Status& status) { NoteBreak(status); },
            .on_failure = [this](const absl::Status& status) { End(session_.Fail(status)); }};
  }

  // Waits for the end; nothing is printed afterwards.
  ExitCode WaitForEnd() { return end_.get_future().get(); }

 private:
  void Print(const v1::WatchEventsResponse& response) {
    if (has_ended_) return;
    NoteStall(response.stall_reason());
    uint64_t last = 0;
    for (const v1::Event& event : response.events()) {
      if (HasPrintedAll()) break;
      session_.Print(event, EventText(event));
      last = event.sequence();
      ++printed_;
    }
    // The caller says that output was lost.
    if (!session_.terminal().out.flush()) return End(ExitCode::kOk);
    const absl::Status acknowledged = Acknowledge(response.epoch(), last);
    if (!acknowledged.ok() && (HasPrintedAll() || !IsMadeUpFor(acknowledged))) {
      return End(session_.Fail(acknowledged));
    }
    if (HasPrintedAll()) End(ExitCode::kOk);
  }

  absl::Status Acknowledge(uint64_t epoch, uint64_t sequence) {
    if (sequence == 0 || !arguments_.acknowledges) return absl::OkStatus();
    return session_.client()
        .feed()
        .Acknowledge(arguments_.containers.front(), arguments_.subscription, epoch, sequence)
        .status();
  }

  // Whether the next acknowledgement includes this one: the sidecar has restarted, and the stream
  // brings the events again, or it cannot write now.
  static bool IsMadeUpFor(const absl::Status& acknowledgement) {
    return ErrorReason(acknowledgement) == "SEQUENCE_NOT_SENT" ||
           absl::IsUnavailable(acknowledgement);
  }

  bool HasPrintedAll() const {
    return arguments_.count.has_value() && printed_ >= *arguments_.count;
  }

  void NoteBreak(const absl::Status& status) {
    if (has_ended_) return;
    PrintError(session_.terminal().err,
               absl::StrCat("the stream broke and is opened again: ", status.message()));
  }

  void NoteStall(const std::string& reason) {
    if (reason != stall_ && !reason.empty()) {
      PrintError(session_.terminal().err, absl::StrCat("no expiries are logged now: ", reason));
    }
    stall_ = reason;
  }

  void End(ExitCode code) {
    if (!std::exchange(has_ended_, true)) end_.set_value(code);
  }

  Session& session_;
  const WatchArguments& arguments_;
  std::promise<ExitCode> end_;
  // All used by the thread of the watcher alone.
  bool has_ended_ = false;
  int64_t printed_ = 0;
  std::string stall_;
};

absl::StatusOr<std::vector<std::string>> ContainersWithFeed(TtlClient& client) {
  const auto containers = client.containers().List();
  if (!containers.ok()) return containers.status();
  std::vector<std::string> ids;
  for (const v1::Container& container : *containers) {
    if (container.has_feed()) ids.push_back(container.id());
  }
  if (!ids.empty()) return ids;
  return absl::NotFoundError(
      "no container has a feed (ttlctl containers set --feed on CONTAINER gives it one)");
}

absl::StatusOr<v1::WatchEventsRequest> WatchRequest(TtlClient& client,
                                                    const WatchArguments& arguments) {
  v1::WatchEventsRequest request;
  if (!arguments.subscription.empty()) {
    request.mutable_subscription()->set_container(arguments.containers.front());
    request.mutable_subscription()->set_name(arguments.subscription);
    return request;
  }
  std::vector<std::string> ids = arguments.containers;
  if (ids.empty()) {
    auto all = ContainersWithFeed(client);
    if (!all.ok()) return all.status();
    ids = *std::move(all);
  }
  for (std::string& id : ids) request.mutable_containers()->add_ids(std::move(id));
  *request.mutable_containers()->mutable_kinds() = arguments.kinds;
  return request;
}

ExitCode WatchFeed(Session& session, const WatchArguments& arguments) {
  if (!arguments.subscription.empty() && arguments.containers.size() != 1) {
    return session.Fail(ExitCode::kUsage,
                        "--subscription is of one container: name it, and no other");
  }
  const auto request = WatchRequest(session.client(), arguments);
  if (!request.ok()) return session.Fail(request.status());
  EventPrinter printer(session, arguments);
  const auto watcher = session.client().feed().Watch(*request, printer.handlers());
  return printer.WaitForEnd();
}

}  // namespace

void AddWatchCommand(CLI::App& app, Command& chosen) {
  auto arguments = std::make_shared<WatchArguments>();
  CLI::App* watch =
      AddCommand(app, "watch", "Print what expires and what is deleted, as it happens", arguments,
                 WatchFeed, chosen);
  watch
      ->add_option_function<std::vector<std::string>>(
          "CONTAINER",
          [arguments = arguments.get()](const std::vector<std::string>& ids) {
            for (const std::string& id : ids) arguments->containers.push_back(FromCli11(id));
          },
          "Ids of containers; default: all that have a feed now")
      ->type_name(kContainerType);
  CLI::Option* subscription = AddTextOption(
      *watch, "--subscription",
      "Print what this subscription of CONTAINER has not acknowledged, and what comes",
      arguments->subscription);
  watch->add_flag("--ack", arguments->acknowledges, "Acknowledge the events that have been printed")
      ->needs(subscription);
  AddEventKindsOption(*watch, "Print only these kinds, with commas between; default: all",
                      arguments->kinds)
      ->excludes(subscription);
  AddIntegerOption(*watch, "--count", "End after so many events; default: when interrupted",
                   [arguments = arguments.get()](int64_t count) {
                     if (count < 1) {
                       throw CLI::ValidationError("--count", "must be 1 or more");
                     }
                     arguments->count = count;
                   });
  watch->footer(
      "Without --subscription it begins now. A stream that breaks is opened again where it was; "
      "with\n"
      "--subscription, events that were not acknowledged are then printed again.\n");
}

}  // namespace ttl
