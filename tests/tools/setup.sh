# Sourced by tests/run.sh, examples/demo.sh and .ci/run: installs what the build needs, configures, builds.
# Debian 12 or Ubuntu with apt; elsewhere the packages must be there already.

set -euo pipefail
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# A package, or package=command where the command will do wherever it came from.
build_packages=(g++=g++ cmake=cmake ninja-build=ninja python3=python3 ccache=ccache mold=mold
                llvm-19-dev zlib1g-dev libzstd-dev libopenblas-dev libfmt-dev doctest-dev nlohmann-json3-dev
                libcli11-dev)
check_packages=(clang-19=clang++-19 clang-format-19=clang-format-19 clang-tidy-19=clang-tidy-19 libclang-rt-19-dev)

say() { printf '== %s\n' "$*"; }

is_installed() {
  local package=${1%%=*} program=${1#*=}
  if [ "$program" != "$package" ] || [ "$1" != "$package" ]; then
    command -v "$program" >/dev/null 2>&1 && return 0
  fi
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ]
}

# install_missing PACKAGE…: no apt when all are there.
install_missing() {
  local entry missing=() as_root=()
  for entry in "$@"; do
    is_installed "$entry" || missing+=("${entry%%=*}")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: no apt-get on this machine; trying without: ${missing[*]}" >&2
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
      echo "setup: neither root nor sudo; please install: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  local log apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600
                 -o Dpkg::Use-Pty=0)
  log=$(mktemp)
  "${apt[@]}" update >"$log" 2>&1 || { cat "$log"; echo "setup: going on with the package lists that are here"; } >&2
  if ! "${apt[@]}" install --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
  rm "$log"
}

# configure_and_build FOLDER [CMAKE_OPTION…] [-- TARGET…]
configure_and_build() {
  local folder=$1 options=() targets=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  [ $# -gt 0 ] && shift && targets=(--target "$@")
  mkdir -p "$folder"
  say "configuring ${folder#"$root"/}"
  if ! cmake -S "$root" -B "$folder" -G Ninja "${options[@]}" >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    return 1
  fi
  tail -n 4 "$folder/configure.log" | grep '^-- cellfuse' || true
  say "building ${folder#"$root"/}"
  NINJA_STATUS='[%f/%t, %e s] ' cmake --build "$folder" "${targets[@]}"
}
