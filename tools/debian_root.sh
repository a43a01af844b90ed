# Sourced by tools/bare_debian.sh and tools/release.sh: a bare Debian in a folder of its own, made by debootstrap. Needs root
# and the network. MIRROR names the Debian archive; else it is the one that apt uses here. Sets or uses:
#   root      the folder of the open root
#   roots     where roots are; set by the caller
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
certificates=/etc/ssl/certs/ca-certificates.crt
root=""

why_no_root() { # why no root can be made here; silent if one can
    if [ "$(id -u)" != 0 ]; then
        echo "debootstrap needs root"
    elif [ -z "$mirror" ]; then
        echo "apt knows no Debian archive (MIRROR names one)"
    elif ! command -v debootstrap >/dev/null 2>&1; then
        echo "debootstrap is not installed (apt-get install debootstrap)"
    fi
}
# open_root NAME: a fresh copy of roots/NAME, which debootstrap makes where NAME is a release and nobody kept such a root; with
# certificates and nothing else. Downloads of packages are shared by the roots of a release.
open_root() {
    if [ ! -e "$roots/$1" ]; then
        debootstrap --variant=minbase --include=ca-certificates "$1" "$roots/$1.new" "$mirror" >"$roots/$1.log" 2>&1 || {
            echo "debootstrap failed, see $roots/$1.log" >&2
            return 1
        }
        mkdir -p "$roots/downloads-$1/partial"
        mv "$roots/$1.new" "$roots/$1"
    fi
    root=$(mktemp -d "$roots/open-XXXXXX")
    cp -a "$roots/$1/." "$root"
    chmod 755 "$root" # other users than root must get in
    # unshare works only where the root is a mount point.
    mount --bind "$root" "$root" && mount --make-private "$root" && mount -t proc proc "$root/proc" && share sys && share dev &&
        mount --bind "$roots/downloads-${1%%-*}" "$root/var/cache/apt/archives" || {
        echo "nothing can be mounted here" >&2
        return 1
    }
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    [ ! -e "$certificates" ] || cp "$certificates" "$root$certificates" # a network may have certificates of its own
    echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/90assume-yes"
}
share() {
    mount --rbind "/$1" "$root/$1" && mount --make-rslave "$root/$1"
}
# keep_root NAME: the open root becomes roots/NAME; close_root: it is removed. A file system that is still mounted must not be emptied.
keep_root() {
    umount -R "$root"
    mv "$root" "$roots/$1"
    root=""
}
close_root() {
    [ -n "$root" ] || return 0
    umount -R "$root" 2>/dev/null || true
    mountpoint -q "$root" && return 1
    rm -rf "$root"
    root=""
}
# inside COMMANDS, as root; inside_as USER COMMANDS
inside() {
    chroot "$root" env -i HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive ${CMAKE_C_COMPILER_LAUNCHER:+CMAKE_C_COMPILER_LAUNCHER=ccache \
        CCACHE_DIR=/ccache CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=1} PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -ec "$1"
}
inside_as() {
    chroot --userspec="$1" "$root" env -i HOME="/home/$1" LC_ALL=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin sh -ec "cd ~ && $2"
}
