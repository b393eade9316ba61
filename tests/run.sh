#!/usr/bin/env bash
# Builds everything in build/ and runs every test. Arguments go to ctest: tests/run.sh -R unit/
source "$(dirname "${BASH_SOURCE[0]}")/tools/setup.sh"

install_missing "${build_packages[@]}"
configure_and_build "$root/build"
say "testing"
cd "$root/build"
exec ctest --output-on-failure --no-tests=error -j "$(nproc)" "$@"
