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

// A value of the file, and how one gets there: "tables[1].id".
struct YamlPlace {
  std::string path;
  YAML::Node node;
};

// Reads values strictly, and goes on after a problem, so that one run names them all. A value
// that is refused is left as it was.
class YamlReader {
 public:
  struct Field {
    std::string name;
    std::function<void(const YamlPlace&)> read;
    bool is_required = false;
  };

  // Each with its line and the path to it, in the order they were found.
  const std::vector<std::string>& problems() const { return problems_; }

  void Report(const YamlPlace& place, absl::string_view problem);
  // Says what stands there, and what would be right.
  void Refuse(const YamlPlace& place, absl::string_view right);

  // Reads each field that is there and not null. Names those that are unknown, given twice,
  // or required and missing.
  void ReadMapping(const YamlPlace& place, const std::vector<Field>& fields);

  void ReadText(const YamlPlace& place, std::string& text);
  void ReadBool(const YamlPlace& place, bool& value);
  void ReadWhole(const YamlPlace& place, int64_t min, int64_t max, int64_t& number);

  // A whole number with ms, s, min or h. With `zero_is_off` also 0.
  void ReadDuration(const YamlPlace& place, absl::Duration max, bool zero_is_off,
                    absl::Duration& duration);
  // A whole number with KiB, MiB, GiB or TiB, or 0.
  void ReadBytes(const YamlPlace& place, int64_t min, int64_t& bytes);

  // One text, or a list of some.
  void ReadTexts(const YamlPlace& place, std::vector<std::string>& texts);

 private:
  std::vector<std::string> problems_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CONFIG_YAML_READER_H_
