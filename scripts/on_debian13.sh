#!/usr/bin/env bash
# Runs a command in a copy of this tree on Debian 13 (libtorch 2.6, oneDNN 3.7, OpenCV 4.10), in a
# chroot that is made the first time: about 4 GB in DIR. As root.
#   scripts/on_debian13.sh [COMMAND...]     default: scripts/test.sh
# The chroot is in $DEBIAN13 (default: build/debian13). What is built there stays, so that a second
# run is short. CCACHE_DIR, CI and OMP_NUM_THREADS are passed on.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${DEBIAN13:-$PWD/build/debian13}
tree=$root/tree
[ $# -gt 0 ] || set -- scripts/test.sh
[ "$(id -u)" -eq 0 ] || { echo "on_debian13: run as root: it makes a chroot" >&2; exit 1; }
if ! [ -e "$root/usr/bin/apt-get" ]; then
  command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
  echo "on_debian13: making Debian 13 in $root" >&2
  debootstrap --variant=minbase trixie "$root" >&2
fi
mounted=()
cleanup() { for ((i = ${#mounted[@]} - 1; i >= 0; --i)); do umount -l "${mounted[$i]}"; done; }
trap cleanup EXIT
for place in proc dev dev/pts; do
  mountpoint -q "$root/$place" && continue
  mount --bind "/$place" "$root/$place"
  mounted+=("$root/$place")
done
cp /etc/resolv.conf "$root/etc/resolv.conf"
# What git knows and what is not committed yet, over the copy of the last time.
mkdir -p "$tree"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [ -e "$file" ]; then printf '%s\0' "$file"; fi  # && would end the script where the last one is gone
done | tar c --null -T - | tar x -C "$tree"
(cd "$tree" && find . -type f -not -path './build/*' -not -path './.git/*' -not -path './runs/*' -print0) |
  while IFS= read -r -d '' file; do [ -e "$file" ] || rm -f "$tree/$file"; done
[ -e "$root/usr/bin/git" ] || chroot "$root" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends git >/dev/null'
[ -e "$tree/.git" ] || chroot "$root" git -C /tree init -q  # the checks ask git for the sources
chroot "$root" git -C /tree add -A
exec_env=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8)
for name in CCACHE_DIR CI OMP_NUM_THREADS; do [ -z "${!name:-}" ] || exec_env+=("$name=${!name}"); done
chroot "$root" env -i "${exec_env[@]}" sh -c 'cd /tree && exec "$@"' sh "$@"
