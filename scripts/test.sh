#!/usr/bin/env bash
# Everything a change must pass: installs what is missing, builds, checks the sources, runs all tests.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
scripts/setup.sh --tests
scripts/check_sources.sh
scripts/build.sh release all
scripts/tidy.sh
# Waiting threads must not spin: several tests share the cores.
OMP_WAIT_POLICY=passive ctest --test-dir build/release --parallel "$(nproc)" --output-on-failure --no-tests=error
echo "test: all passed in $((SECONDS - started)) s"
