#include <iostream>
#include <string>
#include <vector>

#include "client/postgres/program/ttl_postgres.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("ttl-postgres"));
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(ttl::postgres::RunTtlPostgres(arguments, {std::cout, std::cerr}));
}
