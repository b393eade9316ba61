#!/usr/bin/env bash
# Builds the project, trains a character language model with a recurrent cell on examples/data/king_james.txt for less
# than three minutes, and prints what the compiler made of the cell.
#   examples/demo.sh [CELL [OPTION OF char_lm]...]     CELL: FILE.cell, or the name of a ready cell such as gru
source "$(dirname "${BASH_SOURCE[0]}")/../tests/tools/setup.sh"

cell=${1:-$root/examples/char_lm/highway_lstm.cell}
[ $# -eq 0 ] || shift

install_missing "${build_packages[@]}"
configure_and_build "$root/build" -- cellfuse_cli char_lm
export PATH=$root/build/bin:$PATH

say "the cell: ${cell#"$root"/}"
[ ! -f "$cell" ] || cat "$cell"
say "training a character language model"
char_lm --text "$root/examples/data/king_james.txt" --cell "$cell" --epochs 12 --minutes 2.7 "$@"
say "what the compiler made of the cell"
cellfuse explain "$cell" -D I=64 -D H=256 --batch 32 --steps 64 --no-resets
