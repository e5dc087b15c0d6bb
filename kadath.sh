#!/usr/bin/env bash
# KADATH's one entry: a private virtual environment from the hashed lock, then the CLI.
#   ./kadath.sh demo    the main job, offline        ./kadath.sh test    the tests
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${KADATH_VENV:-$here/.venv}

say() { printf 'kadath: %s\n' "$*" >&2; }
die() { say "$*"; exit 5; }

find_python() {
  local name
  for name in "${KADATH_PYTHON:-}" python3.11 python3.12 python3.13 python3; do
    [ -n "$name" ] && command -v "$name" >/dev/null || continue
    "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v "$name"; return; }
  done
  die "Python 3.11 or newer is needed: apt-get install python3 python3-venv"
}

# What pip cannot bring: as root it is installed, otherwise it is named.
system_packages() {
  local missing=()
  [ -x /usr/bin/bwrap ] || missing+=(bubblewrap)
  [ -x /usr/bin/python3 ] || missing+=(python3)
  command -v setpriv >/dev/null || missing+=(util-linux)
  "$1" -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing ${missing[*]}"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"; } >"$here/.apt.log" 2>&1 \
      && { rm -f "$here/.apt.log"; return; }
    tail -5 "$here/.apt.log" >&2
  fi
  die "please install first: apt-get install ${missing[*]}"
}

# The mark names the lock that the environment was made from: equal means nothing to do.
install() {
  local lock=$1 python mark
  mark=$(sha256sum "$lock" | cut -c1-64)
  [ "$(cat "$venv/.lock" 2>/dev/null)" = "$mark" ] && [ -x /usr/bin/bwrap ] && return
  python=$(find_python)
  system_packages "$python"
  say "setting up $(basename "$venv") (once, pinned and hash-checked)"
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r "$lock"
  printf '%s' "$mark" >"$venv/.lock"
}

main() {
  local lock=$here/deploy/locks/runtime.txt command=${1:-}
  # The tests' lock holds everything of the program's own, so one environment serves both.
  case "$command" in test | check | bench) lock=$here/deploy/locks/dev.txt ;; esac
  [ "$(cat "$venv/.lock" 2>/dev/null)" = "$(sha256sum "$here/deploy/locks/dev.txt" | cut -c1-64)" ] \
    && lock=$here/deploy/locks/dev.txt
  install "$lock"
  export PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH} LITELLM_LOCAL_MODEL_COST_MAP=True
  case "$command" in
    test) shift; cd "$here"; exec "$venv/bin/python" -m pytest "$@" ;;
    check) shift; cd "$here"; exec make check ;;
    "") "$venv/bin/python" -m kadath --help; exec "$venv/bin/python" -m kadath runs ;;
    *) exec "$venv/bin/python" -m kadath "$@" ;;
  esac
}

main "$@"
