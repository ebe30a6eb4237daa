#!/usr/bin/env bash
# What the entry point of the image `postgres` does, with the programs of Debian's package: makes
# the database if PGDATA is empty, runs the scripts of INITDB_SCRIPTS in it, then becomes the server.
#
#   postgres_image.sh SETTING...     as --name=value
#
# PGDATA, POSTGRES_DB, POSTGRES_INITDB_ARGS and POSTGRES_PASSWORD mean what they mean to the image.
set -euo pipefail
export PATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin
export LC_ALL=C.UTF-8

make_database() {
  local -a options
  read -ra options <<<"${POSTGRES_INITDB_ARGS-}"
  initdb --pgdata="$PGDATA" --username=postgres --pwfile=<(echo "$POSTGRES_PASSWORD") \
    --no-sync "${options[@]}"
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
}

run_scripts() {
  local -x PGUSER=postgres PGPASSWORD=$POSTGRES_PASSWORD
  createdb "$POSTGRES_DB"
  local script
  for script in "$INITDB_SCRIPTS"/*.sql; do
    psql --no-psqlrc -v ON_ERROR_STOP=1 -d "$POSTGRES_DB" -f "$script"
  done
}

for setting in "$@"; do
  [[ $setting != --unix_socket_directories=* ]] || export PGHOST=${setting#*=}
done
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  make_database
  # As from the image, who has the socket can come in before the scripts are done.
  setpriv --pdeathsig=KILL postgres "$@" &
  until pg_isready --quiet; do
    kill -0 $! || exit 1
    sleep 0.1
  done
  run_scripts
  kill -INT $!
  wait $!
fi
exec postgres "$@"
