#!/usr/bin/env bash
# Formatting, layers, and what must not be in the repository. Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
sources=$(git ls-files '*.h' '*.cpp')
# Versions disagree about layout: Debian 12's is ours.
if clang-format --version | grep -q 'version 14\.'; then
  echo "$sources" | xargs clang-format --dry-run --Werror
  checked="formatting, layers and paths"
else
  echo "check: formatting is left to clang-format 14 (Debian 12)"
  checked="layers and paths"
fi
python3 scripts/check_layers.py
if git grep -nE '(^|[^a-z.])/(work|root|home)/' -- ':!scripts/check_sources.sh'; then
  echo "check: machine paths in tracked files (above)" >&2
  exit 1
fi
echo "check: $checked are fine"
