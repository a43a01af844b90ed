#!/bin/sh
# make run, then make test, on a Debian that has git and make and nothing else, in a folder of its own made by
# debootstrap (tools/debian_root.sh): says how many packages each installs and how long that takes. RELEASE is bookworm (12) or
# trixie (13). Where debootstrap cannot run it says so and passes.
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
. "$source/tools/debian_root.sh"
servers="nginx-light caddy haproxy pgbouncer postgresql sqlite3 openssl systemd python3-pytest"

skip() {
    echo "bare Debian ($release): skipped, $1"
    exit 0
}
why=$(why_no_root)
[ -z "$why" ] || skip "$why"
roots=$(mktemp -d "${TMPDIR:-/tmp}/melicit-debian-XXXXXX")
chmod 755 "$roots"
clean() {
    ! close_root || rm -rf "$roots"
}
trap clean EXIT
trap 'exit 130' INT TERM
open_root "$release" || skip "no root could be made"
inside "apt-get update -qq && apt-get install -y -qq --no-install-recommends git make >/dev/null 2>&1"
git clone -q "$source" "$root/melicit"

in_tree() {
    inside "cd /melicit && $1"
}
packages() {
    inside "dpkg-query -W" | wc -l
}
indented() { # the commands that a page shows, indented by four
    sed -n 's/^    //p' "$1"
}
guide() {
    in_tree "{ $(indented "$source/docs/guide/README.md"); } >/dev/null 2>&1"
    in_tree "cd /tmp && python3 /melicit/tools/guide.py --installed --times /melicit/docs/guide/[a-z]*.md"
    in_tree "apt-get install -y -qq --no-install-recommends $servers >/dev/null 2>&1"
    begin=$(date +%s)
    in_tree "python3 -m pytest -q -p no:cacheprovider tests/system/test_serve_cluster.py tests/system/test_serve_abuse.py \
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
    in_tree "tools/setup.sh $([ "$target" = run ] && echo build || echo "$target") >/dev/null"
    echo "bare Debian ($release): make $target: $(($(packages) - before)) packages in $(($(date +%s) - begin)) s"
    in_tree "make $target"
done
