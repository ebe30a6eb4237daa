#include "client/postgres/program/changed_config.h"

#include <libpq-fe.h>

#include <map>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// The settings of a connection string except its password; absent: it is invalid.
std::optional<std::map<std::string, std::string>> PlaceOf(const std::string& database) {
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed(
      PQconninfoParse(database.c_str(), nullptr), PQconninfoFree);
  if (parsed == nullptr) return std::nullopt;
  std::map<std::string, std::string> place;
  for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) place[option->keyword] = option->val;
  }
  place.erase("password");
  return place;
}

bool IsSamePlace(const std::string& one, const std::string& other) {
  const auto place = PlaceOf(one);
  return place.has_value() && place == PlaceOf(other);
}

}  // namespace

absl::StatusOr<Config> ReadChangedConfig(const std::string& path, const Config& current) {
  TTL_ASSIGN_OR_RETURN(Config config, ReadConfig(path));
  std::vector<std::string> fixed;
  for (const auto& [name, field] :
       std::map<std::string, std::string Config::*>{{"health_listen", &Config::health_listen},
                                                    {"listen", &Config::listen},
                                                    {"publication", &Config::publication},
                                                    {"schema", &Config::schema},
                                                    {"slot", &Config::slot}}) {
    if (config.*field != current.*field) fixed.push_back(name);
  }
  if (fixed.empty()) return config;
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": ", absl::StrJoin(fixed, ", "),
                   " cannot change while ttl-postgres runs: restart it"));
}

std::optional<Config> ReadChangedPassword(const std::string& path, const Config& current) {
  const absl::StatusOr<Config> config = ReadConfig(path);
  if (!config.ok() || !IsSamePlace(config->database, current.database) ||
      !IsSamePlace(config->replication, current.replication)) {
    return std::nullopt;
  }
  Config changed = current;
  changed.database = config->database;
  changed.replication = config->replication;
  if (changed == current) return std::nullopt;
  return changed;
}

}  // namespace ttl::postgres
