#!/usr/bin/env bash
# run.sh COMPILER FOLDER SECONDS: builds the fuzzers with clang under address and undefined sanitizers in FOLDER and
# runs each for SECONDS, starting from every cell of the repository. What breaks one stays in FOLDER/crash-*.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
compiler=$1 folder=$2 seconds=$3

cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="$compiler" -DCELLFUSE_FUZZ=ON \
  -DCELLFUSE_SANITIZE=address,undefined -DCELLFUSE_CPU_JIT=OFF -DCELLFUSE_CUDA=OFF -DCELLFUSE_EXAMPLES=OFF
cmake --build "$folder" --target fuzzers

seeds=$folder/seeds
mkdir -p "$seeds"
find "$root/tests" "$root/frontend/cells" "$root/examples" -name '*.cell' -print0 |
  while IFS= read -r -d '' path; do
    name=${path#"$root"/}
    cp "$path" "$seeds/${name//\//_}"
  done
for source in "$root"/tests/fuzz/*.cpp; do
  name=$(basename "$source" .cpp)
  mkdir -p "$folder/corpus-$name"
  "$folder/bin/$name" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$folder/" "$folder/corpus-$name" "$seeds"
done
