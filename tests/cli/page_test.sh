#!/usr/bin/env bash
# The report and the live page in headless Chromium.
#   page_test.sh CPLEARN
set -euo pipefail
for program in chromium chromedriver; do
  command -v "$program" >/dev/null || {
    echo "SKIPPED: $program is missing; scripts/setup.sh --tests installs it (package chromium-driver)"
    exit 77
  }
done
exec python3 "$(dirname "$0")/page_test.py" "$(realpath "$1")"
