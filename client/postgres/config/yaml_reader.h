#ifndef TTL_CLIENT_POSTGRES_CONFIG_YAML_READER_H_
#define TTL_CLIENT_POSTGRES_CONFIG_YAML_READER_H_

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl::postgres {

// A value in the file, and its path, such as "tables[1].id".
struct YamlPlace {
  std::string path;
  YAML::Node node;
};

// Reads values strictly and continues after a problem, so that one run reports all of them. A Read
// method leaves its target unchanged if it refuses the value. Not thread-safe.
class YamlReader {
 public:
  struct Field {
    std::string name;
    std::function<void(const YamlPlace&)> read;
    bool is_required = false;
  };

  // Problems in the order of discovery, each with its line and path.
  const std::vector<std::string>& problems() const { return problems_; }

  void Report(const YamlPlace& place, absl::string_view problem);
  // Reports the value as not allowed; `right` describes the allowed values.
  void Refuse(const YamlPlace& place, absl::string_view right);

  // Reads each field that is present and not null. Reports fields that are unknown, duplicated, or
  // required and missing.
  void ReadMapping(const YamlPlace& place, const std::vector<Field>& fields);

  void ReadText(const YamlPlace& place, std::string& text);
  void ReadBool(const YamlPlace& place, bool& value);
  void ReadWhole(const YamlPlace& place, int64_t min, int64_t max, int64_t& number);

  // An integer with ms, s, min or h. With `zero_is_off`, 0 is allowed too.
  void ReadDuration(const YamlPlace& place, absl::Duration max, bool zero_is_off,
                    absl::Duration& duration);
  // An integer with KiB, MiB, GiB or TiB, or 0.
  void ReadBytes(const YamlPlace& place, int64_t min, int64_t& bytes);

  // One string, or a list of strings.
  void ReadTexts(const YamlPlace& place, std::vector<std::string>& texts);

 private:
  std::vector<std::string> problems_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CONFIG_YAML_READER_H_
