#!/bin/sh
# Installs what a target needs and is not there yet: tools/setup.sh build | python | test | web | bench | repro | fuzz | site | deb | r | release.
# Silent, and without the network, when nothing is missing.
set -eu

build="gcc cmake ninja-build pkg-config libc6-dev libopenblas-dev liblapacke-dev libnlopt-dev zlib1g-dev libzip-dev
       libjansson-dev libsodium-dev libsqlite3-dev libmicrohttpd-dev libpq-dev"
python="$build python3-dev python3-cffi python3-build python3-setuptools python3-wheel python3-pip python3-numpy patchelf"
test="$python g++ clang clang-format clang-tidy libomp-dev libcmocka-dev python3 python3-numpy python3-scipy python3-sklearn
      python3-pandas python3-xgboost python3-matplotlib python3-pytest mypy groff-base man-db postgresql chromium-headless-shell
      openssl libopenmpi-dev openmpi-bin python3-distributed nginx-light caddy haproxy pgbouncer sqlite3 python3-markdown codespell locales qemu-user zsh fish"
bench="$test"
repro="$bench"
site="python3 python3-markdown"
deb="$python python3-markdown debhelper lintian"
r="$build r-base-dev r-cran-jsonlite r-cran-knitr"
release="debootstrap buildah podman crun netavark iptables curl"
fuzz="$build clang llvm libclang-rt-dev"

goal=${1:-build}
case "$goal" in
build) wanted=$build ;;
python) wanted=$python ;;
test) wanted=$test ;;
web) wanted="" ;;
bench) wanted=$bench ;;
repro) wanted=$repro ;;
fuzz) wanted=$fuzz ;;
site) wanted=$site ;;
deb) wanted=$deb ;;
r) wanted=$r ;;
release) wanted=$release ;;
*)
    echo "usage: tools/setup.sh build|python|test|web|bench|repro|fuzz|site|deb|r|release" >&2
    exit 2
    ;;
esac

# Not in every release: repro/ does without.
[ "$goal" != repro ] || ! apt-cache show umap-learn >/dev/null 2>&1 || wanted="$wanted umap-learn"

# Who builds the pages anew or tests them needs Node.js. It may come from elsewhere, whose package has other names
# and parts: the commands count.
case "$goal" in
test | web)
    command -v node >/dev/null 2>&1 || wanted="$wanted nodejs"
    command -v npm >/dev/null 2>&1 || wanted="$wanted npm"
    ;;
esac

missing=""
if command -v dpkg-query >/dev/null 2>&1; then
    for package in $wanted; do
        state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
        [ "$state" = "install ok installed" ] || missing="$missing $package"
    done
else
    echo "setup: no dpkg here, so nothing is checked; the build needs what these Debian packages hold:" >&2
    echo $wanted >&2
    exit 0
fi
install_packages() {
    echo "setup: installing$missing" >&2
    if [ "$(id -u)" = 0 ]; then
        as_root=""
    elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        as_root="sudo"
    else
        echo "setup: this needs root or sudo. Ask an administrator to run" >&2
        echo "    apt-get install$missing" >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    # The package lists of a new machine are empty or old; without the network the lists at hand must do.
    $as_root apt-get update -qq || echo "setup: the package lists could not be refreshed, trying with what is there" >&2
    if ! $as_root apt-get install -y -qq --no-install-recommends $missing >&2; then
        echo "setup: could not install$missing" >&2
        echo "setup: check the network or the package sources, or install them by hand, then run make again" >&2
        exit 1
    fi
}
[ -z "$missing" ] || install_packages

case "$goal" in
test | web) ;;
*) exit 0 ;;
esac

# The packages of the web pages, as web/package-lock.json pins them; kept in web/node_modules. Node.js trusts what
# the system trusts, for networks with a certificate of their own.
certificates=/etc/ssl/certs/ca-certificates.crt
[ ! -e "$certificates" ] || export NODE_EXTRA_CA_CERTS="${NODE_EXTRA_CA_CERTS:-$certificates}"
web=$(dirname "$0")/../web
if [ ! -e "$web/node_modules/.package-lock.json" ] ||
    [ "$web/package-lock.json" -nt "$web/node_modules/.package-lock.json" ]; then
    echo "setup: installing the packages of web/package-lock.json" >&2
    if ! (cd "$web" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2 &&
        touch node_modules/.package-lock.json); then
        echo "setup: the front end's tools (esbuild, TypeScript, Playwright) could not be fetched from npm's registry;" >&2
        echo "setup: make test and make web need them, make and make run do not. Check the network and npm's registry;" >&2
        echo "setup: NODE_EXTRA_CA_CERTS=FILE names further certificates to trust. Then run make again" >&2
        exit 1
    fi
fi
