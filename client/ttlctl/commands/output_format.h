#ifndef TTL_CLIENT_TTLCTL_COMMANDS_OUTPUT_FORMAT_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_OUTPUT_FORMAT_H_

namespace ttl {

// What a command prints its results as.
enum class OutputFormat {
  kTable,  // text and tables for people
  kJson,   // one object per line
  kYaml,   // one document per object, each after a line "---"
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_OUTPUT_FORMAT_H_
