#include "client/ttlctl/input/import_line.h"

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"

namespace ttl {
namespace {

constexpr int64_t kMaxTtl = 2147483647;
constexpr int64_t kMaxExpireAt = 253402300799;  // the end of the year 9999
constexpr absl::string_view kKnownFields =
    "id, partition_key, ts, ttl, expire_at, etag, sequence, size_bytes; id_base64, "
    "partition_key_base64 and "
    "etag_base64 for bytes";

// The allowed values of a field, for errors.
absl::string_view Allowed(absl::string_view field) {
  if (field == "ts") return "whole Unix seconds, at least 1";
  if (field == "ttl") return "-1 or a whole number from 1 to 2147483647, null or left out";
  if (field == "expire_at") {
    return "whole Unix seconds from 1 to 253402300799, null or left out";
  }
  if (field == "sequence") return "a whole number from 0 to 18446744073709551615";
  if (field == "size_bytes") return "a whole number from 0 to 9223372036854775807";
  if (absl::EndsWith(field, "_base64")) return "a base64 text";
  return "a text";
}

bool IsNumberField(absl::string_view field) {
  return field == "ts" || field == "ttl" || field == "expire_at" || field == "sequence" ||
         field == "size_bytes";
}

bool IsTextField(absl::string_view field) {
  const absl::string_view name = absl::StripSuffix(field, "_base64");
  return name == "id" || name == "partition_key" || name == "etag";
}

size_t MaxBytes(absl::string_view name) {
  if (name == "id") return 1023;
  if (name == "partition_key") return 2048;
  return 128;
}

// A SAX handler for nlohmann's parser, because parsed values no longer show duplicate keys. Each
// event returns whether to continue.
class LineHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  absl::StatusOr<v1::Item> Finish() && {
    if (!status_.ok()) return status_;
    for (const char* required : {"id", "ts"}) {
      if (given_.count(required) == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", required, "\" is missing: it must be ", Allowed(required)));
      }
    }
    return std::move(item_);
  }

  bool start_object(std::size_t) override {
    if (in_object_) return Refuse("an object");
    in_object_ = true;
    return true;
  }

  bool key(string_t& name) override {
    if (!IsNumberField(name) && !IsTextField(name)) {
      return Stop(
          absl::StrCat("unknown field \"", absl::CHexEscape(name), "\": known are ", kKnownFields));
    }
    const absl::string_view target = absl::StripSuffix(name, "_base64");
    if (!given_.insert(std::string(target)).second) {
      return Stop(absl::StrCat("\"", target, "\" is given twice"));
    }
    field_ = name;
    return true;
  }

  bool string(string_t& value) override {
    if (!IsTextField(field_))
      return Refuse(absl::StrCat("the text \"", absl::CHexEscape(value), "\""));
    absl::string_view name = field_;
    std::string bytes = value;
    if (absl::ConsumeSuffix(&name, "_base64") && !absl::Base64Unescape(value, &bytes)) {
      return Refuse("something else");
    }
    if (bytes.size() > MaxBytes(name)) {
      return Stop(absl::StrCat("\"", field_, "\" has ", bytes.size(), " bytes: it may have up to ",
                               MaxBytes(name)));
    }
    SetBytes(name, std::move(bytes));
    return true;
  }

  bool number_integer(number_integer_t value) override {
    if (field_ == "ttl" && value == -1) {
      item_.set_ttl(-1);
      return true;
    }
    return Refuse(absl::StrCat(value));
  }

  // nlohmann calls this for all non-negative integers.
  bool number_unsigned(number_unsigned_t value) override {
    const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (field_ == "sequence") {
      item_.set_sequence(value);
    } else if (field_ == "size_bytes" && fits) {
      item_.set_size_bytes(static_cast<int64_t>(value));
    } else if (field_ == "ts" && fits && value >= 1) {
      item_.set_ts(static_cast<int64_t>(value));
    } else if (field_ == "ttl" && value >= 1 && value <= kMaxTtl) {
      item_.set_ttl(static_cast<int64_t>(value));
    } else if (field_ == "expire_at" && value >= 1 && value <= kMaxExpireAt) {
      item_.set_expire_at(static_cast<int64_t>(value));
    } else {
      return Refuse(absl::StrCat(value));
    }
    return true;
  }

  bool number_float(number_float_t, const string_t& text) override { return Refuse(text); }
  // Exports write an absent ttl or expire_at as null. A null key is missing.
  bool null() override { return field_ == "ttl" || field_ == "expire_at" || Refuse("null"); }
  bool boolean(bool value) override { return Refuse(value ? "true" : "false"); }
  bool binary(binary_t&) override { return Refuse("bytes"); }
  bool start_array(std::size_t) override { return Refuse("a list"); }
  bool end_array() override { return true; }
  bool end_object() override { return true; }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Stop(absl::StrCat("not a JSON object: broken at byte ", position));
  }

 private:
  bool Stop(absl::string_view message) {
    status_ = absl::InvalidArgumentError(message);
    return false;
  }

  bool Refuse(absl::string_view got) {
    if (!in_object_) return Stop(absl::StrCat("is ", got, ", not a JSON object"));
    return Stop(absl::StrCat("\"", field_, "\" is ", got, ": it must be ", Allowed(field_)));
  }

  void SetBytes(absl::string_view name, std::string bytes) {
    if (name == "id") {
      item_.set_id(std::move(bytes));
    } else if (name == "partition_key") {
      item_.set_partition_key(std::move(bytes));
    } else {
      item_.set_etag(std::move(bytes));
    }
  }

  absl::Status status_;
  bool in_object_ = false;
  std::string field_;
  // Names of the fields seen, without _base64.
  std::set<std::string> given_;
  v1::Item item_;
};

}  // namespace

absl::StatusOr<v1::Item> ParseImportLine(absl::string_view line) {
  LineHandler handler;
  nlohmann::json::sax_parse(line.begin(), line.end(), &handler);
  return std::move(handler).Finish();
}

}  // namespace ttl
