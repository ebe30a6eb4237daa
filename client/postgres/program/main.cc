#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "client/postgres/program/ttl_postgres.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("ttl-postgres"));
  // A line takes the place of the bar that a scan may have drawn (capture/scan_display.h).
  if (isatty(STDERR_FILENO) == 1) spdlog::set_pattern("\r\033[K%+");
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(ttl::postgres::RunTtlPostgres(arguments, {std::cout, std::cerr}));
}
