#!/usr/bin/env bash
# Times the CPU programs against the unfused pipeline and against PyTorch and prints the tables of RESULTS.md. Builds
# first. Wants a machine that does nothing else; takes about five minutes. The Python with PyTorch: PYTHON=/usr/bin/python3
source "$(dirname "${BASH_SOURCE[0]}")/../tools/setup.sh"

install_missing "${build_packages[@]}"
configure_and_build "$root/build" -DCMAKE_BUILD_TYPE=Release -- cellfuse_cli
cellfuse=$root/build/bin/cellfuse

describe_machine() {
  sed -n 's/^model name[^:]*: /CPU: /p' /proc/cpuinfo | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /'
  echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
}

against_unfused() {
  local cell shape
  for cell in lstm layer_norm_lstm; do
    for shape in "256 32 64" "64 1 512"; do
      set -- $shape
      "$cellfuse" bench "$cell" -D H="$1" -D I="$1" --batch "$2" --steps "$3" --train --against unfused
    done
  done
}

say "machine"
describe_machine
say "against the unfused pipeline"
against_unfused
say "against PyTorch"
"${PYTHON:-/usr/bin/python3}" "$root/tests/bench/torch_cpu.py" --cellfuse "$cellfuse"
