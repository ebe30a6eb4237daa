#include "client/postgres/sql/as_of.h"

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/install/installed_object.h"

namespace ttl::postgres {
namespace {

// The format excludes values that depend on the session or on the moment, such as 'now', and times
// without an offset. There is no EXCEPTION block, since a parallel query could not run it. No
// backslash: standard_conforming_strings would change its meaning.
constexpr absl::string_view kBody = R"(
DECLARE
  given text := current_setting('ttl_postgres.as_of');
  as_of timestamptz;
BEGIN
  IF given !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)$' THEN
    RAISE EXCEPTION 'ttl_postgres.as_of is "%": must be a time with its offset, such as 2026-11-30 12:00:00+00', given
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  as_of := given::timestamptz;
  IF as_of < statement_timestamp() - interval '1 hour' OR as_of > statement_timestamp() + interval '5 seconds' THEN
    RAISE EXCEPTION 'ttl_postgres.as_of is %: must be at most 1 hour before and 5 seconds after the database''s clock, which shows %',
      given, to_char(statement_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN least(as_of, statement_timestamp());
END )";

}  // namespace

// A setting that was reset is empty. A transaction that has set it leaves it so.
std::string JudgedAt(absl::string_view schema) {
  return absl::StrCat("CASE WHEN current_setting('ttl_postgres.as_of', true) <> '' THEN ",
                      AsOfFunction(schema), " ELSE statement_timestamp() END");
}

// PUBLIC may call it, since the views and policies do so with the rights of the caller.
std::string AsOfFunctionSql(absl::string_view schema) {
  const std::string name = AsOfFunction(schema);
  return absl::StrCat("CREATE OR REPLACE FUNCTION ", name,
                      " RETURNS timestamptz LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path "
                      "= pg_catalog AS ",
                      QuoteBody(kBody), ";\nGRANT EXECUTE ON FUNCTION ", name, " TO PUBLIC;\n");
}

std::string AsOfFunction(absl::string_view schema) {
  return absl::StrCat(QuoteQualified(schema, "as_of"), "()");
}

}  // namespace ttl::postgres
