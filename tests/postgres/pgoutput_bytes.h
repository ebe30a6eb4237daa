#ifndef TTL_TESTS_POSTGRES_PGOUTPUT_BYTES_H_
#define TTL_TESTS_POSTGRES_PGOUTPUT_BYTES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Puts a message of pgoutput together, as the server would.
class PgoutputBytes {
 public:
  explicit PgoutputBytes(char type) : bytes_(1, type) {}

  PgoutputBytes& Byte(char byte) {
    bytes_.push_back(byte);
    return *this;
  }
  PgoutputBytes& Int16(uint64_t number) { return Number(number, 2); }
  PgoutputBytes& Int32(uint64_t number) { return Number(number, 4); }
  PgoutputBytes& Int64(uint64_t number) { return Number(number, 8); }
  PgoutputBytes& Text(absl::string_view text) {
    bytes_.append(text.data(), text.size());
    return Byte('\0');
  }
  PgoutputBytes& Value(absl::string_view text) {
    Byte('t').Int32(text.size());
    bytes_.append(text.data(), text.size());
    return *this;
  }

  operator const std::string&() const { return bytes_; }  // NOLINT(google-explicit-constructor)
  const std::string& bytes() const { return bytes_; }

 private:
  PgoutputBytes& Number(uint64_t number, int size) {
    for (int i = size - 1; i >= 0; --i) bytes_.push_back(static_cast<char>(number >> (8 * i)));
    return *this;
  }

  std::string bytes_;
};

}  // namespace ttl::postgres

#endif  // TTL_TESTS_POSTGRES_PGOUTPUT_BYTES_H_
