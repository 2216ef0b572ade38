# A bare Debian 12 in a temporary folder, for script/test-chroot and script/newcomer; sourced after common.sh.
# shellcheck shell=bash disable=SC2154 # root is common.sh's

release=bookworm
skipped=77 # exit code: no base system can be built here

# enter SYSTEM: make it ready for `inside`. Called as process 1 of namespaces of their own (apart), so that every mount and every
# process is gone when it ends, however it ends.
enter() {
    system=$1
    mount -t proc proc "$system/proc"
    mount -t tmpfs -o mode=755,size=64k tmpfs "$system/dev"
    for device in null zero full random urandom; do
        : >"$system/dev/$device"
        mount --bind "/dev/$device" "$system/dev/$device"
    done
    mkdir "$system/dev/shm"
    mount -t tmpfs -o mode=1777 tmpfs "$system/dev/shm"
    ln -s /proc/self/fd "$system/dev/fd"
}

# inside COMMAND...: run it in the system that was entered, with the environment of a new log-in.
inside() {
    chroot "$system" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        LANG=C.UTF-8 ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} "$@"
}

# need_root ARGUMENT...: start the script again as root, or say that it cannot be.
need_root() {
    if ((EUID == 0)); then return; fi
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then exec sudo -n "$0" "$@"; fi
    say "skipped: building a base system needs root or passwordless sudo"
    exit "$skipped"
}

# shellcheck disable=SC2317 # reached through the trap
clean_up() {
    trap '' INT TERM
    if [[ $child ]]; then
        kill "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    rm -rf --one-file-system "$temporary"
}

# apart COMMAND...: run it as process 1 of namespaces of its own, where its mounts and all its children end with
# it; in the background, so that a signal is acted on at once.
apart() {
    local status=0
    unshare --mount --pid --fork --kill-child --mount-proc "$@" &
    child=$!
    wait "$child" || status=$?
    child=
    return "$status"
}

# One "deb" line for each part of Debian 12 that this machine's apt knows, whatever form its sources have.
host_sources() {
    apt-get indextargets --format "deb \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" 'Created-By: Packages' |
        grep -E "^deb (http|https)://[^ ]+ $release(-updates|-security)? main\$" | sort -u
}

# build_base: a base system in $system, a folder of $temporary, which is gone when the script ends.
build_base() {
    local sources mirror start bootstrap key file
    if ! command -v mmdebstrap >/dev/null && ! command -v debootstrap >/dev/null; then
        DEBIAN_FRONTEND=noninteractive apt-get -y -q install --no-install-recommends --no-remove mmdebstrap >&2 || {
            say "skipped: neither mmdebstrap nor debootstrap is here, and apt-get cannot install them"
            exit "$skipped"
        }
    fi
    if ! unshare --mount --pid --fork true 2>/dev/null; then
        say "skipped: this system does not let root make namespaces (a container without the right to mount?)"
        exit "$skipped"
    fi
    sources=$(host_sources) || { apt-get -q update >&2 && sources=$(host_sources); } ||
        die "this machine's apt sources do not offer Debian 12 ($release)"
    mirror=$(awk -v release="$release" '$3 == release { print $2; exit }' <<<"$sources")
    [[ $mirror ]] || die "this machine's apt sources offer updates of Debian 12 ($release) but not $release itself"

    temporary=$(mktemp -d "${TMPDIR:-/tmp}/tacit-chroot.XXXXXX")
    system=$temporary/system
    child=
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM

    say "a bare Debian 12 from this machine's mirror"
    start=$SECONDS
    printf '%s\n' "$sources" >"$temporary/sources.list"
    if command -v mmdebstrap >/dev/null; then
        bootstrap=(mmdebstrap --mode=root --variant=minbase "$release" "$system" "$temporary/sources.list")
    else
        bootstrap=(debootstrap --variant=minbase "$release" "$system" "$mirror")
    fi
    if ! apart "${bootstrap[@]}" >"$temporary/log" 2>&1; then
        cat "$temporary/log" >&2
        die "could not build the base system"
    fi
    rm -f "$system"/etc/apt/sources.list.d/* "$system/etc/apt/sources.list"
    cp "$temporary/sources.list" "$system/etc/apt/sources.list"
    # Network settings of apt, without its hooks and habits.
    apt-config dump | grep -iE '^Acquire::(http|https|Retries|ForceIPv[46])' >"$system/etc/apt/apt.conf.d/99host" || true
    if grep -q ' https://' <<<"$sources" && [[ -f /etc/ssl/certs/ca-certificates.crt ]]; then
        cp /etc/ssl/certs/ca-certificates.crt "$system/etc/apt/host-certificates.crt"
        echo 'Acquire::https::CAInfo "/etc/apt/host-certificates.crt";' >>"$system/etc/apt/apt.conf.d/99host"
    fi
    for key in /etc/apt/trusted.gpg.d/*; do
        if [[ -f $key ]]; then cp -n "$key" "$system/etc/apt/trusted.gpg.d/"; fi
    done
    for file in /etc/resolv.conf /etc/hosts; do
        if [[ -f $file ]]; then cp -L "$file" "$system$file"; fi
    done
    say "base system built in $((SECONDS - start)) s"
}

# put_clone FOLDER: the last commit, cloned to that folder of the base system.
put_clone() {
    mkdir -p "$system$(dirname "$1")"
    # Root may be cloning what belongs to the user who called sudo, which git allows only by a setting.
    printf '[safe]\n\tdirectory = *\n' >"$temporary/gitconfig"
    export GIT_CONFIG_GLOBAL=$temporary/gitconfig
    if [[ $(git -C "$root" status --porcelain) ]]; then say "changes that are not committed are left out"; fi
    git clone -q --no-hardlinks "$root" "$system$1"
}
