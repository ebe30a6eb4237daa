#include "client/ttlctl/commands/holds/hold_arguments.h"

#include <utility>

#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/input/key_text.h"

namespace ttl {

void AddHoldName(CLI::App& command, HoldArguments& arguments) {
  AddContainerId(command, "CONTAINER",
                 [&arguments](std::string id) { arguments.container = std::move(id); });
  AddParsedOption(command, "HOLD", "Name of the hold", "TEXT",
                  [&arguments](const std::string& text) {
                    if (text.empty() || !IsUtf8(text)) {
                      throw CLI::ValidationError("HOLD",
                                                 "the name of a hold is 1 to 255 bytes of UTF-8");
                    }
                    arguments.hold_id = text;
                  })
      ->required();
}

}  // namespace ttl
