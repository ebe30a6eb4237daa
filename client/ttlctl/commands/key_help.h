#ifndef TTL_CLIENT_TTLCTL_COMMANDS_KEY_HELP_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_KEY_HELP_H_

namespace ttl {

// The notation of key_text.h, as shown by --help of commands that take or print keys.
inline constexpr char kKeyHelp[] =
    "Ids of items, partition keys and etags are bytes: write \\\\ for a backslash and \\xHH for "
    "any\n"
    "byte; tables show them the same way, JSON and YAML as base64.\n";

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_KEY_HELP_H_
