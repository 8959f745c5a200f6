#!/usr/bin/env bash
# Installs what is missing, builds with every warning an error, and runs all
# tests: with CUDA where there is nvcc, and without CUDA. The last line counts
# the single tests; the exit status is 1 if one failed.
#
#   tests/run.sh
#
# GPU_ARCH=sm_90 or the like: the GPU to compile for. By default that of this
# machine, and sm_90 where there is none.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../pipelines/setup.sh"

LOGS=()
PYTHON=/usr/bin/python3

# run_tests DIRECTORY NAME MESON-OPTION...: builds there and runs the tests.
run_tests () {
  local dir=$1 name=$2
  shift 2
  say "== Building $name"
  build_plugin "$dir" all -Dtests=enabled -Dwerror=true "$@"
  say "== Testing $name"
  # what failed is counted below
  meson test -C "$dir" --no-rebuild --print-errorlogs || true
  LOGS+=("$name=$dir/meson-logs/testlog.json")
}

# The scripts that users run, with the plugin of DIRECTORY.
run_pipelines () {
  say "== Testing pipelines/"
  BUILD=$1 bash "$ROOT/tests/pipelines/run.sh" 2>&1 |
    tee "$1/meson-logs/pipelines.txt" || true
  LOGS+=("pipelines=$1/meson-logs/pipelines.txt")
}

install_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_RUN[@]}" \
  "${PACKAGES_TEST[@]}"
install_nvcc
# logs of an earlier run must not be counted
rm -f "$ROOT"/build-test*/meson-logs/*
if find_nvcc; then
  arch=${GPU_ARCH:-$(gpu_arch)}
  [ "$arch" != all-major ] || arch=sm_90
  run_tests "$ROOT/build-test-cuda" "with CUDA" -Dcuda=enabled \
    -Dgpu_arch="$arch"
else
  say "No nvcc here: the CUDA code is not built, and only the CPU is tested."
fi
run_tests "$ROOT/build-test-cpu" "without CUDA" -Dcuda=disabled
run_pipelines "$ROOT/build-test-cpu"
exec "$PYTHON" "$ROOT/tests/summary.py" "${LOGS[@]}"
