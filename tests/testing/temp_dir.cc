#include "tests/testing/temp_dir.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace ttl {

TempDir::TempDir() {
  char name[] = "/tmp/ttl-XXXXXX";
  if (mkdtemp(name) == nullptr) {
    perror("mkdtemp /tmp/ttl-XXXXXX");
    abort();
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::File(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

}  // namespace ttl
