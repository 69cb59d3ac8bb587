#!/usr/bin/env bash
# Installs what cplearn needs from Debian's packages. Idempotent; as root or with sudo.
#   scripts/setup.sh           what users need: to build and run
#   scripts/setup.sh --tests   also what only the tests and checks need
set -euo pipefail

build=(g++ cmake ninja-build ccache libtorch-dev libgloo-dev libopenblas0-openmp libhwy-dev
       libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev libjpeg-dev libpng-dev libmatio-dev
       libcli11-dev nlohmann-json3-dev libxxhash-dev libtomlplusplus-dev libcpp-httplib-dev node-d3 curl)
tests=(libgtest-dev libbenchmark-dev clang-format clang-tidy python3 chromium-driver)

packages=("${build[@]}")
case "${1:-}" in
  "") ;;
  --tests) packages+=("${tests[@]}") ;;
  *) echo "usage: scripts/setup.sh [--tests]" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exit 0
fi

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root, or install sudo; needed: ${missing[*]}" >&2; exit 1; }
  sudo=(sudo)
fi
echo "setup: installing ${missing[*]}"
apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get)
"${apt[@]}" update -qq
"${apt[@]}" install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "setup: done"
