#!/bin/sh
# make run, then make test, on a Debian 12 that has git and make and nothing else, in a folder of its own made by
# debootstrap: says how many packages each installs and how long that takes. Needs root and the network; where
# debootstrap cannot run it says so and passes. MIRROR names the Debian archive; else it is the one that apt uses here.
# usage: tools/bare_debian.sh [TARGET...]     (run test unless given)
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
certificates=/etc/ssl/certs/ca-certificates.crt

skip() {
    echo "bare Debian: skipped, $1"
    exit 0
}
[ "$(id -u)" = 0 ] || skip "debootstrap needs root"
[ -n "$mirror" ] || skip "apt knows no Debian archive (MIRROR names one)"
command -v debootstrap >/dev/null 2>&1 || skip "debootstrap is not installed (apt-get install debootstrap)"

folder=$(mktemp -d "${TMPDIR:-/tmp}/melicit-debian-XXXXXX")
clean() {
    umount -R "$folder/proc" "$folder/dev" 2>/dev/null || true
    # A file system that is still mounted must not be emptied.
    mountpoint -q "$folder/proc" || mountpoint -q "$folder/dev" || rm -rf "$folder"
}
trap clean EXIT
trap 'exit 130' INT TERM
debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$folder" "$mirror" >"$folder.log" 2>&1 ||
    skip "debootstrap failed, see $folder.log"
rm -f "$folder.log"
mount -t proc proc "$folder/proc" && mount --rbind /dev "$folder/dev" && mount --make-rslave "$folder/dev" || skip "nothing can be mounted here"
cp /etc/resolv.conf /etc/hosts "$folder/etc/"
[ ! -e "$certificates" ] || cp "$certificates" "$folder$certificates" # a network may have certificates of its own
git clone -q "$source" "$folder/melicit"

inside() {
    chroot "$folder" env -i HOME=/tmp LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c "cd /melicit && $1"
}
packages() {
    inside "dpkg-query -W" | wc -l
}
for target in ${*:-run test}; do
    before=$(packages)
    begin=$(date +%s)
    inside "tools/setup.sh $([ "$target" = run ] && echo build || echo "$target") >/dev/null"
    echo "bare Debian: make $target: $(($(packages) - before)) packages in $(($(date +%s) - begin)) s"
    inside "make $target"
done
