# Shared by the scripts of this folder; sourced, not run. Wants `set -euo pipefail` in the caller.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# TACIT_BUILD moves the build folder; the sanitized, clang and bench builds become its siblings.
build=${TACIT_BUILD:-$root/build}
[[ $build == /* ]] || build=$PWD/$build
build=${build%/}

# This script's name stands before each message; messages go to stderr.
say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { say "$@"; exit 1; }

# quietly LOG COMMAND...: run it, and show what it printed only if it failed.
quietly() {
    local log=$1 status=0
    shift
    mkdir -p "$(dirname "$log")"
    "$@" >"$log" 2>&1 || status=$?
    if ((status != 0)); then cat "$log" >&2; fi
    return "$status"
}

# configure DIR SETTING...: a Meson build in DIR that has these settings. What was configured before stays
# as it is, except for the settings named here; a build folder that came from another place starts afresh.
# With no setting: whatever is there, or else a build without the tests.
configure() {
    local dir=$1 stamp=$1/tacit-setup log=$1/tacit-setup.log wanted first
    shift
    if (($# > 0)); then first=("$@"); else first=(-Dtests=false); fi
    wanted=$(printf '%s\n' "$root" "$@")
    if [[ ! -f $dir/build.ninja ]]; then
        say "configuring $(basename "$dir")"
        quietly "$log" meson setup "${first[@]}" "$dir" "$root" || return
    elif [[ -f $stamp && $(head -n 1 "$stamp") != "$root" ]]; then
        say "configuring $(basename "$dir") afresh: it was made in another place"
        rm -rf "$dir"
        quietly "$log" meson setup "${first[@]}" "$dir" "$root" || return
    elif (($# > 0)) && [[ ! -f $stamp || $(<"$stamp") != "$wanted" ]]; then
        say "configuring $(basename "$dir") again"
        quietly "$log" meson configure "$@" "$dir" || return
    else
        return 0
    fi
    printf '%s\n' "$wanted" >"$stamp"
}

# compile DIR: build everything; says nothing when there is nothing to do. DIR/tacit is the program.
compile() {
    local dir=$1 plan
    plan=$(ninja -C "$dir" -n 2>/dev/null | tail -n 1) || plan=
    if [[ $plan != "ninja: no work to do." ]]; then
        say "building $(basename "$dir")"
        if [[ -t 2 ]]; then
            ninja -C "$dir" >&2 || return
        else
            quietly "$dir/tacit-build.log" ninja -C "$dir" --quiet || return
        fi
    fi
    if [[ -x $dir/src/cli/tacit && ! -e $dir/tacit ]]; then ln -sfn src/cli/tacit "$dir/tacit"; fi
}
