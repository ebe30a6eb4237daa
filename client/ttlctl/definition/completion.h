#ifndef TTL_CLIENT_TTLCTL_DEFINITION_COMPLETION_H_
#define TTL_CLIENT_TTLCTL_DEFINITION_COMPLETION_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace ttl {

// A word that may stand in place of the one that is being typed.
struct CompletionWord {
  std::string text;
  std::string description;  // may be empty
};

// What may be typed next.
struct CompletionChoices {
  std::vector<CompletionWord> words;  // they begin with what was typed
  bool files = false;                 // paths too
  bool containers = false;            // ids of containers too
  std::string typed;                  // the beginning of such an id
  // The options of the command line that hold for all commands, with their values.
  std::vector<std::string> global_arguments;
};

// What may stand in place of the last of `words`, which are the arguments of ttlctl so far; the
// last one may be empty. `root` is the command line's definition. Never fails: where the words make
// no sense, there is nothing to choose. Pure.
CompletionChoices CompletionsFor(const CLI::App& root, const std::vector<std::string>& words);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_DEFINITION_COMPLETION_H_
