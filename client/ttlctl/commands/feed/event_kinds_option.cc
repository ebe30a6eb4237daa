#include "client/ttlctl/commands/feed/event_kinds_option.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/text/feed/event_text.h"

namespace ttl {

CLI::Option* AddEventKindsOption(CLI::App& command, const std::string& description,
                                 google::protobuf::RepeatedField<int>& kinds) {
  return AddParsedOption(
      command, "--kinds", description, kEventKindWords, [&kinds](const std::string& text) {
        for (const absl::string_view word : absl::StrSplit(text, ',')) {
          const v1::EventKind kind = EventKindOf(word);
          if (kind == v1::EVENT_KIND_UNSPECIFIED) {
            RefuseValue("--kinds", std::string(word),
                        absl::StrCat("one of ", absl::StrJoin(ChoicesOf(kEventKindWords), ", "),
                                     ", or several with commas between them"),
                        kEventKindWords);
          }
          kinds.Add(kind);
        }
      });
}

}  // namespace ttl
