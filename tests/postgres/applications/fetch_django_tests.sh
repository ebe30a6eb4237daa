#!/usr/bin/env bash
# Fetches Django's own tests of sessions and of the cache in a database: those of Debian's source
# package, of the version that is installed. Nothing if they are there already.
#
#   tests/postgres/applications/fetch_django_tests.sh TARGET
#
# Needs no root: apt's lists of sources are kept in the target.
set -euo pipefail
version=$(dpkg-query -W -f '${Version}' python3-django)
mkdir -p "$1"
cd "$1"
[[ $(cat installed-version 2>/dev/null) != "$version" ]] || exit 0

# The sources are where the packages come from.
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
  'Created-By: Packages' 'Origin: Debian' | sort -u >sources.list
# Without apt's lists nothing is known of origins.
if [[ ! -s sources.list ]]; then
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  echo "deb-src http://deb.debian.org/debian $codename main"
  echo "deb-src http://deb.debian.org/debian-security $codename-security main"
fi >>sources.list
mkdir -p lists/partial cache/archives/partial
apt=(apt-get -qq -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=-
  -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update
# A machine may have a version that a security update has replaced since.
"${apt[@]}" source --download-only --tar-only "python-django=$version" ||
  "${apt[@]}" source --download-only --tar-only python-django
tar -xzf python-django_*.orig.tar.gz --strip-components 1 --wildcards '*/tests/runtests.py' \
  '*/tests/urls.py' '*/tests/templates/*' '*/tests/sessions_tests/*' '*/tests/cache/*'
echo "$version" >installed-version
