#ifndef TTL_CLIENT_TTLCTL_COMMANDS_FEED_EVENT_KINDS_OPTION_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_FEED_EVENT_KINDS_OPTION_H_

#include <string>

#include "CLI/CLI.hpp"
#include "google/protobuf/repeated_field.h"

namespace ttl {

// Adds --kinds: kinds of events by their words, with commas between them. `kinds` must outlive the
// parsing.
CLI::Option* AddEventKindsOption(CLI::App& command, const std::string& description,
                                 google::protobuf::RepeatedField<int>& kinds);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_FEED_EVENT_KINDS_OPTION_H_
