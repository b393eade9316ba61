#!/usr/bin/env bash
# Builds the project and trains a character language model with a recurrent cell on examples/data/king_james.txt.
# Arguments go to char_lm: examples/demo.sh --cell gru
source "$(dirname "${BASH_SOURCE[0]}")/../tests/tools/setup.sh"

train_language_model() {
  say "training a character language model"
  "$root/build/bin/char_lm" --text "$root/examples/data/king_james.txt" "$@"
}

install_missing "${build_packages[@]}"
configure_and_build "$root/build" -- cellfuse_cli char_lm
train_language_model "$@"
