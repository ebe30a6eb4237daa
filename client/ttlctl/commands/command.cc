#include "client/ttlctl/commands/command.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/definition/suggestion.h"
#include "client/ttlctl/input/duration_text.h"
#include "client/ttlctl/input/key_text.h"

namespace ttl {
namespace {

constexpr char kMark = '\x01';

// "table, json or yaml"
std::string InWords(const std::vector<std::string>& choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    const char* const separator = i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
    absl::StrAppend(&text, separator, choices[i]);
  }
  return text;
}

std::string ParseKey(const std::string& option, const std::string& text) {
  absl::StatusOr<std::string> key = KeyFromText(text);
  if (!key.ok()) throw CLI::ValidationError(option, std::string(key.status().message()));
  return *std::move(key);
}

}  // namespace

std::string ToCli11(const std::string& argument) {
  const bool is_list = !argument.empty() && argument.front() == '[' && argument.back() == ']';
  return is_list ? kMark + argument : argument;
}

std::string FromCli11(const std::string& value) {
  const bool is_marked = value.size() >= 2 && value[0] == kMark && value[1] == '[';
  return is_marked ? value.substr(1) : value;
}

CLI::Option* AddParsedOption(CLI::App& command, const std::string& name,
                             const std::string& description, const std::string& type,
                             std::function<void(const std::string&)> parse) {
  return command
      .add_option_function<std::string>(
          name, [parse = std::move(parse)](const std::string& value) { parse(FromCli11(value)); },
          description)
      ->type_name(type);
}

CLI::Option* AddTextOption(CLI::App& command, const std::string& name,
                           const std::string& description, std::string& target) {
  return AddParsedOption(command, name, description, "TEXT",
                         [&target](const std::string& text) { target = text; });
}

CLI::Option* AddIntegerOption(CLI::App& command, const std::string& name,
                              const std::string& description, std::function<void(int64_t)> set) {
  return AddParsedOption(command, name, description, "N",
                         [name, set = std::move(set)](const std::string& text) {
                           int64_t value;
                           if (!absl::SimpleAtoi(text, &value)) {
                             RefuseNumber(name, text, "a whole number");
                           }
                           set(value);
                         });
}

CLI::Option* AddChoiceOption(CLI::App& command, const std::string& name,
                             const std::string& description, const std::string& choices,
                             std::function<void(const std::string&)> set) {
  const std::string long_name = name.substr(name.find(',') + 1);
  return AddParsedOption(command, name, description, choices,
                         [long_name, choices, set = std::move(set)](const std::string& text) {
                           const std::vector<std::string> words = ChoicesOf(choices);
                           if (std::find(words.begin(), words.end(), text) == words.end()) {
                             RefuseValue(long_name, text, InWords(words), choices);
                           }
                           set(text);
                         });
}

void RefuseValue(const std::string& option, const std::string& text, const std::string& right,
                 const std::string& type) {
  throw CLI::ValidationError(
      option, absl::StrCat("\"", text, "\" must be ", right, DidYouMean(text, ChoicesOf(type))));
}

CLI::Option* AddDurationOption(CLI::App& command, const std::string& name,
                               const std::string& description, std::function<void(int64_t)> set) {
  return AddParsedOption(
      command, name, description, "DURATION",
      [name, set = std::move(set)](const std::string& text) { set(ParseDuration(name, text)); });
}

int64_t ParseDuration(const std::string& option, const std::string& text, const std::string& also,
                      const std::string& type) {
  const absl::StatusOr<int64_t> seconds = SecondsFromText(text);
  if (seconds.ok()) return *seconds;
  if (absl::IsOutOfRange(seconds.status())) throw NumberTooLarge(option, text);
  RefuseValue(option, text, absl::StrCat(also, also.empty() ? "" : ", ", kDurationForms), type);
}

CLI::Option* AddKeyOption(CLI::App& command, const std::string& name,
                          const std::string& description, std::function<void(std::string)> set) {
  return AddParsedOption(
      command, name, description, "TEXT",
      [name, set = std::move(set)](const std::string& text) { set(ParseKey(name, text)); });
}

void AddKeyArguments(CLI::App& command, const std::string& name, const std::string& description,
                     std::vector<std::string>& keys) {
  command
      .add_option_function<std::vector<std::string>>(
          name,
          [name, &keys](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) keys.push_back(ParseKey(name, FromCli11(text)));
          },
          description)
      ->required();
}

NumberTooLarge::NumberTooLarge(const std::string& option, const std::string& text)
    : CLI::ValidationError(option, absl::StrCat("\"", text, "\" is too large")) {}

void RefuseNumber(const std::string& option, const std::string& text, const std::string& right) {
  absl::string_view digits = text;
  absl::ConsumePrefix(&digits, "-");
  if (!digits.empty() && std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit)) {
    throw NumberTooLarge(option, text);
  }
  throw CLI::ValidationError(option, absl::StrCat("\"", text, "\" must be ", right));
}

void AddContainerId(CLI::App& command, const std::string& name,
                    std::function<void(std::string)> set) {
  AddParsedOption(command, name, "Id of the container", kContainerType,
                  [name, set = std::move(set)](const std::string& text) {
                    if (text.empty() || !IsUtf8(text)) {
                      throw CLI::ValidationError(
                          name, "the id of a container is 1 to 255 bytes of UTF-8");
                    }
                    set(text);
                  })
      ->required();
}

}  // namespace ttl
