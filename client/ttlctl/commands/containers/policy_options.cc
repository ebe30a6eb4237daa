#include "client/ttlctl/commands/containers/policy_options.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/input/windows_text.h"

namespace ttl {
namespace {

// Parses a number, or `word`, which gives an absent one.
std::optional<double> ParseNumberOr(const std::string& option, const std::string& text,
                                    absl::string_view word) {
  double number;
  if (text == word) return std::nullopt;
  if (!absl::SimpleAtod(text, &number)) {
    RefuseValue(option, text, absl::StrCat(word, " or a number"), std::string(word));
  }
  return number;
}

void ParseDefaultTtl(const std::string& text, v1::Container& container) {
  if (text == "off") {
    container.clear_default_ttl();
  } else {
    container.set_default_ttl(ParseDuration("--default-ttl", text, "off, -1", "off"));
  }
}

void SetIndexingMode(const std::string& text, v1::Container& container) {
  if (text == "consistent") {
    container.set_indexing_mode(v1::INDEXING_MODE_CONSISTENT);
  } else if (text == "lazy") {
    container.set_indexing_mode(v1::INDEXING_MODE_LAZY);
  } else {
    container.set_indexing_mode(v1::INDEXING_MODE_NONE);
  }
}

// An option for a number of the delete policy; `word` removes it.
struct NumberOption {
  const char* name;
  const char* word;
  const char* path;
  const char* help;
  void (v1::DeletePolicy::*set)(double);
  void (v1::DeletePolicy::*clear)();
};

constexpr NumberOption kNumberOptions[] = {
    {"--max-deletes-per-second", "default", "delete_policy.max_deletes_per_second",
     "Maximum deletes per second; 0: no deletes; default: --container-max-deletes-per-second of "
     "the server",
     &v1::DeletePolicy::set_max_deletes_per_second,
     &v1::DeletePolicy::clear_max_deletes_per_second},
    {"--request-units-per-second", "none", "delete_policy.request_units_per_second",
     "Throughput of the container; deletes use only what requests leave over; none: deletes ignore "
     "usage",
     &v1::DeletePolicy::set_request_units_per_second,
     &v1::DeletePolicy::clear_request_units_per_second},
    {"--request-units-per-delete", "none", "delete_policy.request_units_per_delete",
     "Cost of a delete until the store reports it; none: 1",
     &v1::DeletePolicy::set_request_units_per_delete,
     &v1::DeletePolicy::clear_request_units_per_delete},
    {"--min-deletes-per-second", "none", "delete_policy.min_deletes_per_second",
     "Minimum deletes per second, even if requests leave nothing over; none: 0",
     &v1::DeletePolicy::set_min_deletes_per_second,
     &v1::DeletePolicy::clear_min_deletes_per_second},
};

void AddNumberOption(CLI::App& command, const NumberOption& option, ContainerArguments& arguments) {
  AddParsedOption(command, option.name, option.help, absl::StrCat("X|", option.word),
                  [&arguments, &option](const std::string& text) {
                    const auto number = ParseNumberOr(option.name, text, option.word);
                    v1::DeletePolicy& policy = *arguments.container.mutable_delete_policy();
                    arguments.named_fields.push_back(option.path);
                    if (number.has_value()) {
                      (policy.*option.set)(*number);
                    } else {
                      (policy.*option.clear)();
                    }
                  });
}

// An option for a field of the container that is true or false.
struct SwitchOption {
  const char* name;
  const char* path;
  const char* help;
  void (v1::Container::*set)(bool);
};

constexpr SwitchOption kSwitchOptions[] = {
    {"--show-held", "show_held",
     "Whether expired items under a hold stay visible; default: a hold stops the delete only",
     &v1::Container::set_show_held},
    {"--requires-holds", "requires_holds",
     "Whether nothing is deleted while holds may be missing: at first, and after a restore or a "
     "repair, until holds accept or holds apply",
     &v1::Container::set_requires_holds},
    {"--allow-touch", "allow_touch",
     "Whether items may be touched, which starts their countdown again without a write; their ts "
     "and ttl alone then no longer tell that they are expired",
     &v1::Container::set_allow_touch},
};

void AddSwitchOption(CLI::App& command, const SwitchOption& option, ContainerArguments& arguments) {
  AddChoiceOption(command, option.name, option.help, "true|false",
                  [&arguments, &option](const std::string& text) {
                    arguments.named_fields.push_back(option.path);
                    (arguments.container.*option.set)(text == "true");
                  });
}

void AddBrakeOptions(CLI::App& command, BrakeEdit& edit) {
  AddParsedOption(command, "--brake-items",
                  "Hold deletes for confirmation if a policy change makes more items due than "
                  "this; none: no limit",
                  "N|none", [&edit](const std::string& text) {
                    int64_t items = 0;
                    if (text != "none" && !absl::SimpleAtoi(text, &items)) {
                      RefuseNumber("--brake-items", text, "none or a whole number of items");
                    }
                    edit.changes.push_back([text, items](v1::PolicyBrake& brake) {
                      brake.clear_max_newly_due_items();
                      if (text != "none") brake.set_max_newly_due_items(items);
                    });
                  });
  AddParsedOption(command, "--brake-percent",
                  "Hold deletes for confirmation if a policy change makes a larger percentage of "
                  "the items due; none: no limit",
                  "X|none", [&edit](const std::string& text) {
                    const auto percent = ParseNumberOr("--brake-percent", text, "none");
                    edit.changes.push_back([percent](v1::PolicyBrake& brake) {
                      brake.clear_max_newly_due_percent();
                      if (percent.has_value()) brake.set_max_newly_due_percent(*percent);
                    });
                  });
  AddDurationOption(command, "--brake-release-seconds",
                    "Time after which the brake releases by itself; default: one day",
                    [&edit](int64_t seconds) {
                      edit.changes.push_back([seconds](v1::PolicyBrake& brake) {
                        brake.mutable_release_after()->set_seconds(seconds);
                      });
                    });
}

constexpr char kWindowsType[] = "WINDOWS|none";

void ParseWindows(const std::string& text, WindowsEdit& edit) {
  edit.removes_all = text == "none";
  if (edit.removes_all) return;
  auto windows = WindowsFromText(text);
  if (!windows.ok()) {
    RefuseValue("--windows", text,
                absl::StrCat("none, or windows as ", kWindowForm,
                             ", such as mon-fri 22:00-06:00, "
                             "separated by semicolons"),
                kWindowsType);
  }
  edit.changes.push_back([windows = *std::move(windows)](v1::DeleteWindows& changed) {
    changed.mutable_windows()->Assign(windows.begin(), windows.end());
  });
}

void AddWindowOptions(CLI::App& command, WindowsEdit& edit) {
  AddParsedOption(command, "--windows",
                  "Hours in which items may be deleted, separated by semicolons, such as "
                  "\"mon-fri 22:00-06:00; sat,sun 00:00-24:00 500/s\"; none: at any time",
                  kWindowsType, [&edit](const std::string& text) { ParseWindows(text, edit); });
  AddParsedOption(
      command, "--windows-time-zone",
      "Time zone of the windows, such as Europe/Berlin; default: UTC", "ZONE",
      [&edit](const std::string& zone) {
        edit.changes.push_back([zone](v1::DeleteWindows& changed) { changed.set_time_zone(zone); });
      });
  AddParsedOption(command, "--max-deletes-per-second-outside",
                  "Maximum deletes per second while no window is open; none: 0", "X|none",
                  [&edit](const std::string& text) {
                    const auto rate =
                        ParseNumberOr("--max-deletes-per-second-outside", text, "none");
                    edit.changes.push_back([rate](v1::DeleteWindows& changed) {
                      changed.clear_max_deletes_per_second_outside();
                      if (rate.has_value()) changed.set_max_deletes_per_second_outside(*rate);
                    });
                  });
}

}  // namespace

std::optional<v1::DeleteWindows> WindowsEdit::Apply(v1::DeleteWindows windows) const {
  if (IsEmpty() || removes_all) return std::nullopt;
  for (const auto& change : changes) change(windows);
  return windows;
}

std::optional<v1::PolicyBrake> BrakeEdit::Apply(v1::PolicyBrake brake) const {
  const auto has_limit = [&brake] {
    return brake.has_max_newly_due_items() || brake.has_max_newly_due_percent();
  };
  const bool had_limit = has_limit();
  for (const auto& change : changes) change(brake);
  // The server refuses a brake without a limit and names what is missing.
  if (!has_limit() && (had_limit || !brake.has_release_after())) return std::nullopt;
  return brake;
}

void AddPolicyOptions(CLI::App& command, ContainerArguments& arguments) {
  AddParsedOption(command, "--default-ttl",
                  "Time to live of items without a ttl, in seconds or as 90m, 1h30m, 30d; -1: only "
                  "items with a ttl expire; off: nothing expires",
                  "DURATION|-1|off", [&arguments](const std::string& text) {
                    arguments.named_fields.push_back("default_ttl");
                    ParseDefaultTtl(text, arguments.container);
                  });
  AddChoiceOption(command, "--indexing-mode", "How the expiry index is maintained",
                  "consistent|lazy|none", [&arguments](const std::string& text) {
                    arguments.named_fields.push_back("indexing_mode");
                    SetIndexingMode(text, arguments.container);
                  });
  AddDurationOption(
      command, "--delay-seconds",
      "Minimum time between the expiry of an item and its delete; the item is invisible "
      "meanwhile. 0 to 316224000, ten years of 366 days",
      [&arguments](int64_t seconds) {
        arguments.named_fields.push_back("delete_policy.delay");
        arguments.container.mutable_delete_policy()->mutable_delay()->set_seconds(seconds);
      });
  for (const NumberOption& option : kNumberOptions) AddNumberOption(command, option, arguments);
  AddBrakeOptions(command, arguments.brake);
  AddWindowOptions(command, arguments.windows);
  for (const SwitchOption& option : kSwitchOptions) AddSwitchOption(command, option, arguments);
}

std::string PolicyOptionNames() {
  std::string names = "--default-ttl, --indexing-mode, --delay-seconds";
  for (const NumberOption& option : kNumberOptions) absl::StrAppend(&names, ", ", option.name);
  absl::StrAppend(&names,
                  ", --brake-items, --brake-percent, --brake-release-seconds, --windows, "
                  "--windows-time-zone, --max-deletes-per-second-outside");
  for (const SwitchOption& option : kSwitchOptions) absl::StrAppend(&names, ", ", option.name);
  return names;
}

}  // namespace ttl
