#!/bin/sh
# make run, then make test, on a Debian that has git and make and nothing else, in a folder of its own made by
# debootstrap: says how many packages each installs and how long that takes. RELEASE is bookworm (12) or trixie (13). Needs
# root and the network; where debootstrap cannot run it says so and passes. MIRROR names the Debian archive; else it is the
# one that apt uses here.
# guide is no target of make: it installs what docs/guide/README.md says and follows every page, with the time that it takes,
# and docs/deployment.md by the tests that run its commands and the files of deploy/.
# usage: tools/bare_debian.sh RELEASE [TARGET...]     (run guide test unless given)
set -eu
release=${1:-}
case "$release" in
bookworm | trixie) shift ;;
*)
    echo "usage: tools/bare_debian.sh bookworm|trixie [run|guide|test...]" >&2
    exit 2
    ;;
esac
source=$(cd "$(dirname "$0")/.." && pwd)
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
certificates=/etc/ssl/certs/ca-certificates.crt
servers="nginx-light caddy haproxy pgbouncer postgresql sqlite3 openssl systemd python3-pytest"

skip() {
    echo "bare Debian ($release): skipped, $1"
    exit 0
}
[ "$(id -u)" = 0 ] || skip "debootstrap needs root"
[ -n "$mirror" ] || skip "apt knows no Debian archive (MIRROR names one)"
command -v debootstrap >/dev/null 2>&1 || skip "debootstrap is not installed (apt-get install debootstrap)"

folder=$(mktemp -d "${TMPDIR:-/tmp}/melicit-debian-XXXXXX")
chmod 755 "$folder" # other users than root, such as that of PostgreSQL, must get in
clean() {
    umount -R "$folder" 2>/dev/null || true
    # A file system that is still mounted must not be emptied.
    mountpoint -q "$folder" || rm -rf "$folder"
}
trap clean EXIT
trap 'exit 130' INT TERM
debootstrap --variant=minbase --include=git,make,ca-certificates "$release" "$folder" "$mirror" >"$folder.log" 2>&1 ||
    skip "debootstrap failed, see $folder.log"
rm -f "$folder.log"
share() {
    mount --rbind "/$1" "$folder/$1" && mount --make-rslave "$folder/$1"
}
# unshare works only where the root is a mount point.
mount --bind "$folder" "$folder" && mount --make-private "$folder" && mount -t proc proc "$folder/proc" && share sys &&
    share dev || skip "nothing can be mounted here"
cp /etc/resolv.conf /etc/hosts "$folder/etc/"
[ ! -e "$certificates" ] || cp "$certificates" "$folder$certificates" # a network may have certificates of its own
git clone -q "$source" "$folder/melicit"

inside() {
    chroot "$folder" env -i HOME=/tmp LC_ALL=C.UTF-8 PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -ec "cd /melicit && $1"
}
packages() {
    inside "dpkg-query -W" | wc -l
}
indented() { # the commands that a page shows, indented by four
    sed -n 's/^    //p' "$1"
}
guide() {
    inside "{ $(indented "$source/docs/guide/README.md"); } >/dev/null 2>&1"
    inside "cd /tmp && python3 /melicit/tools/guide.py --installed --times /melicit/docs/guide/[a-z]*.md"
    inside "apt-get install -y -qq --no-install-recommends $servers >/dev/null 2>&1"
    begin=$(date +%s)
    inside "python3 -m pytest -q -p no:cacheprovider tests/system/test_serve_cluster.py tests/system/test_serve_abuse.py \
        -k 'cluster or backup or proxies or unit'"
    echo "bare Debian ($release): deployment.md: $(($(date +%s) - begin)) s of commands"
}
for target in ${*:-run guide test}; do
    if [ "$target" = guide ]; then
        guide
        continue
    fi
    before=$(packages)
    begin=$(date +%s)
    inside "tools/setup.sh $([ "$target" = run ] && echo build || echo "$target") >/dev/null"
    echo "bare Debian ($release): make $target: $(($(packages) - before)) packages in $(($(date +%s) - begin)) s"
    inside "make $target"
done
