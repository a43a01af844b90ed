#!/bin/sh
# Builds every artefact of a release from the last commit into build/release/, and checks each on bare Debian 12 and 13 by the
# lines that README.md says ("Install"), as an ordinary user. Writes checksums, and a row of docs/install.md for each check that
# passed. Needs root, the network, debootstrap (tools/debian_root.sh), buildah and podman. ROOTS names a folder that keeps roots for the next run.
# usage: tools/release.sh [build|deb|wheel|bundle|r|container|from_source|table...]     (all of them, in this order, unless given)
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source"
. tools/debian_root.sh
roots=${ROOTS:-$source/build/roots}
out=$source/build/release
version=$(awk '/^project/ {print $3}' CMakeLists.txt)
measure="--data mammographic_mass --classes benign,malignant"

stop() {
    echo "release: $1" >&2
    exit 1
}
why=$(why_no_root)
[ -z "$why" ] || stop "$why"
mkdir -p "$roots" "$out"
trap close_root EXIT
trap 'exit 130' INT TERM

debian() { # the number of a release's name
    [ "$1" = bookworm ] && echo 12 || echo 13
}
line_for() { # the line of README.md for a system
    sed -n "s/^| $1 .*| \`\(.*\)\` |\$/\1/p" README.md | grep . || stop "README.md has no line for $1"
}
passed() { # SYSTEM ARTEFACT COMMAND WHAT
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$version" "$3" "$(date -u +%F)" "$4" >>"$out/checks.tsv"
    echo "release: $1: $2: $4"
}
user() { # a bare system with an ordinary user; what the archive says is up to date
    open_root "$1"
    inside "apt-get update -qq; useradd -m ann; mkdir /release"
}
install_packages() {
    inside "apt-get install -qq --no-install-recommends $* >/dev/null 2>&1"
}
files() { # of the open root, without what apt and the loader keep for themselves
    inside "find / -xdev -not -path '/var/lib/dpkg/*' -not -path '/var/lib/apt/*' -not -path '/var/cache/*' -not -path '/var/log/*' \
        -not -path '/tmp/*' -not -path '/release*' -not -path '/run/*' -not -path '/etc/ld.so.cache' | sort"
}

# --- building ---
builder() { # a root with everything that packages are built with, kept for the next time
    if [ ! -e "$roots/$1-builder" ]; then
        user "$1"
        mkdir "$root/melicit"
        cp -a tools "$root/melicit"
        inside "apt-get install -qq --no-install-recommends make ${CCACHE_DIR:+ccache} >/dev/null 2>&1; cd /melicit; tools/setup.sh deb; tools/setup.sh r; rm -r /melicit" \
            >"$out/setup-$1.log" 2>&1 || stop "what builds packages could not be installed, see $out/setup-$1.log"
        keep_root "$1-builder"
    fi
    open_root "$1-builder"
    if [ -n "${CCACHE_DIR:-}" ]; then # what was compiled before is not compiled again
        mkdir "$root/ccache" && mount --bind "$CCACHE_DIR" "$root/ccache"
        export CMAKE_C_COMPILER_LAUNCHER=ccache
    fi
    tar -xzf "$out/melicit-$version.tar.gz" -C "$root"
    tree=/melicit-$version
}
build() {
    rm -rf "$out"/*.tar.gz "$out"/debian-* "$out"/*.whl
    make -s dist
    cp "build/melicit-$version.tar.gz" "$out"
    for release in bookworm trixie; do
        builder "$release"
        log=$out/build-$release.log
        inside "cd $tree && make deb" >"$log" 2>&1 || stop "make deb on Debian $(debian "$release"), see $log"
        mkdir -p "$out/debian-$(debian "$release")"
        cp "$root$tree"/build/deb/*.deb "$out/debian-$(debian "$release")"
        rm -f "$out/debian-$(debian "$release")"/*-dbgsym_*
        [ "$release" = trixie ] || alone
        close_root
    done
}
alone() { # what carries its libraries is built on the older system
    inside "cd $tree && make wheel bundle" >>"$log" 2>&1 || stop "make wheel bundle, see $log"
    cp "$root$tree"/build/wheel/*.whl "$root$tree"/build/melicit-*-linux-*.tar.gz "$out"
    cp "$root$tree/build/melicit-$version-linux-$(uname -m)/share/doc/melicit/melicit.spdx.json" "$out"
}
smaller() { # FILE than so many million bytes
    [ "$(stat -c %s "$1")" -lt "$2"000000 ] || stop "$1 is larger than $2 MB"
}

# --- checking ---
deb() {
    for release in bookworm trixie; do
        number=$(debian "$release")
        user "$release"
        files >"$out/before"
        cp "$out/debian-$number"/*.deb "$root/release"
        # The time counts from when the packages of others are there.
        inside "cd /release && apt-get install -qq --download-only ./melicit_*.deb >/dev/null 2>&1"
        begin=$(date +%s)
        inside "cd /release && $(line_for Debian) >/dev/null 2>&1"
        inside_as ann "melicit space $measure" | grep -q "480 rows" || stop "the program of the package on Debian $number"
        seconds=$(($(date +%s) - begin))
        [ "$seconds" -lt 60 ] || stop "the first result on Debian $number took $seconds s"
        passed "Debian $number" "\`melicit_*.deb\`" "$(line_for Debian)" "first result after $seconds s"
        inside "cd /release && apt-get install -qq ./*melicit*.deb >/dev/null 2>&1"
        inside_as ann "python3 -c 'import melicit; print(melicit.__version__)'" | grep -q "$version" || stop "python3-melicit on Debian $number"
        mkdir -p "$root/var/lib/melicit" && echo store >"$root/var/lib/melicit/studies.db"
        newer_package
        inside "apt-get install -qq ./release/newer/melicit_*.deb >/dev/null 2>&1"
        inside "dpkg-query -W -f '\${Version}' melicit" | grep -q "$version+1" || stop "upgrading on Debian $number"
        inside "apt-get purge -qq \$(dpkg -l | awk '/^ii.*melicit/ {print \$2}') >/dev/null 2>&1; apt-get autoremove --purge -qq >/dev/null 2>&1"
        files | comm -13 "$out/before" - | grep -v '^/var/lib/melicit' | grep melicit >"$out/left" && stop "left after removal: $(cat "$out/left")"
        grep -q store "$root/var/lib/melicit/studies.db" || stop "removing the packages removed the store"
        passed "Debian $number" "all packages" "apt install, upgrade, purge" "only the store stays"
        close_root
    done
    rm -f "$out/before" "$out/left"
}
newer_package() { # the same with a higher version
    inside "cd /release && mkdir newer && dpkg-deb -R melicit_*.deb new && sed -i 's/^Version: .*/&+1/' new/DEBIAN/control && \
        dpkg-deb -b new newer/melicit_newer.deb >/dev/null"
}
wheel() {
    smaller "$out"/*.whl 25
    for release in bookworm trixie; do
        number=$(debian "$release")
        user "$release"
        # There is no package index here: NumPy and cffi are Debian's.
        install_packages python3-venv python3-pip python3-numpy python3-cffi
        cp "$out"/*.whl "$root/home/ann"
        inside_as ann "python3 -m venv --system-site-packages env; PIP_NO_INDEX=1 env/bin/$(line_for Python) >/dev/null
            env/bin/melicit space $measure" | grep -q "480 rows" || stop "the wheel's program on Debian $number"
        cp tests/support/wheel.py "$root/home/ann"
        alone=$(inside_as ann "env/bin/python -W error wheel.py")
        passed "Debian $number" "\`melicit-*.whl\`" "$(line_for Python)" "$alone"
        install_packages python3-sklearn python3-pandas
        learned=$(inside_as ann "env/bin/python -W error wheel.py")
        passed "Debian $number" "\`melicit-*.whl\` for scikit-learn" "$(line_for Python)" "$learned"
        close_root
    done
}
bundle() {
    smaller "$out"/melicit-*-linux-*.tar.gz 40
    for release in bookworm trixie; do
        number=$(debian "$release")
        user "$release"
        cp "$out"/melicit-*-linux-*.tar.gz "$root/home/ann"
        inside_as ann "$(line_for Linux)" | grep -q "480 rows" || stop "the bundle on Debian $number"
        inside_as ann "melicit-*/bin/melicit serve --relay --port 0 </dev/null" | grep -q "http://127.0.0.1" || stop "the bundle's server on Debian $number"
        passed "Debian $number" "\`melicit-*-linux-*.tar.gz\`" "$(line_for Linux)" "$(du -sh "$root"/home/ann/melicit-*/ | cut -f 1) unpacked"
        close_root
    done
}
r() {
    for release in bookworm trixie; do
        number=$(debian "$release")
        builder "$release"
        cp "$out/debian-$number"/libmelicit*.deb "$root/tmp"
        inside "apt-get install -qq /tmp/libmelicit*.deb >/dev/null 2>&1"
        log=$out/r-$release.log
        # yardstick is no package of Debian, and what needs it is optional.
        inside "cd /tmp && R CMD build $tree/r && _R_CHECK_FORCE_SUGGESTS_=false R CMD check --no-manual melicit_$version.tar.gz" >"$log" 2>&1 ||
            stop "R CMD check on Debian $number, see $log"
        grep -qE "^Status: (OK|1 NOTE)$" "$log" && [ "$(grep -c "NOTE$" "$log")" -le 1 ] && ! grep -q WARNING "$log" ||
            stop "R CMD check on Debian $number found something, see $log"
        cp "$root/tmp/melicit_$version.tar.gz" "$out"
        inside "cd /tmp && $(line_for R) >/dev/null 2>&1 && Rscript -e 'library(melicit); stopifnot(score(\"accuracy\", c(0, 1), c(0, 1)) == 1)'"
        passed "Debian $number" "\`melicit_*.tar.gz\` for R" "$(line_for R)" "$(inside "R --version" | sed -n '1s/ (.*//p'), R CMD check: $(sed -n 's/^Status: //p' "$log")"
        close_root
    done
}
container() {
    archive=$out/melicit-$version-container.tar name=melicit-check-$$ page=http://127.0.0.1:18080/healthz
    open_root trixie && close_root
    made=$(buildah from scratch)
    cp -a "$roots/trixie/." "$(buildah mount "$made")"
    buildah commit -q --rm "$made" melicit-base >/dev/null
    rm -rf "$out/context" && mkdir "$out/context"
    cp "$out"/debian-13/melicit_*.deb "$out/context"
    buildah build --isolation chroot --format docker --network host --build-arg BASE=localhost/melicit-base -t melicit -f deploy/Containerfile \
        "$out/context" >"$out/container.log" 2>&1 || stop "the container, see $out/container.log"
    rm -rf "$out/context" "$archive"
    podman save -q --format docker-archive -o "$archive" localhost/melicit
    # As the README says it, under a name of its own, with a volume of its own and on a port that nobody has.
    line=$(line_for Container | sed "s/podman run/podman run --name $name/; s/-v melicit:/-v $name:/; s/1:8080:/1:18080:/")
    for run in first second; do
        (cd "$out" && sh -c "$line") >"$out/container-$run.log" 2>&1 &
        timeout 300 sh -c "until curl -sf --noproxy '*' $page >/dev/null; do sleep 1; done" || stop "the container does not answer, see $out/container-$run.log"
        podman healthcheck run "$name" && [ "$(podman exec "$name" id -un)" = melicit ] || stop "the container's health or user"
        podman exec "$name" sha256sum /var/lib/melicit/server.key >"$out/key-$run"
        podman stop -t 10 "$name" >/dev/null
        wait
        podman rm -f "$name" >/dev/null 2>&1 || true
    done
    cmp -s "$out/key-first" "$out/key-second" && grep -q "this token" "$out/container-first.log" && ! grep -q "this token" "$out/container-second.log" ||
        stop "the second container did not find the first one's store"
    podman volume rm "$name" >/dev/null
    rm "$out/key-first" "$out/key-second"
    passed "Debian $(cut -d . -f 1 /etc/debian_version)" "\`melicit-*-container.tar\`" "$(line_for Container)" "answers, healthy, keeps its store"
}
from_source() {
    builder trixie
    inside "cd $tree && $(line_for source) >build.log 2>&1" || stop "$(line_for source)"
    inside_as ann "melicit space $measure" | grep -q "480 rows" || stop "the installed program"
    inside "cd $tree && make -s uninstall >/dev/null; find /usr/local -type f -o -type l" | grep melicit && stop "make uninstall left these"
    passed "Debian 13" "\`melicit-$version.tar.gz\`" "$(line_for source)" "make uninstall leaves nothing"
    close_root
}
table() { # the newest row for each system and artefact, in docs/install.md
    python3 tools/release_table.py "$out/checks.tsv" docs/install.md
    cd "$out"
    find . -type f \( -name '*.deb' -o -name '*.whl' -o -name '*.gz' -o -name '*.tar' -o -name '*.json' \) | sort | xargs sha256sum >SHA256SUMS
    echo "release: to be uploaded, with SHA256SUMS and melicit.spdx.json:"
    find . -type f \( -name '*.deb' -o -name '*.whl' -o -name '*.gz' -o -name '*.tar' \) -printf '  %P  %s bytes\n' | sort
    echo "release: the wheel to the Python package index, melicit_$version.tar.gz to CRAN, debian-*/ to an apt repository for that"
    echo "release: release, the container to a registry, everything to the page of the tag v$version"
}

for step in ${*:-build deb wheel bundle r container from_source table}; do
    "$step"
done
