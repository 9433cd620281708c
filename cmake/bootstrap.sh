# SPDX-License-Identifier: LGPL-3.0-only
# Sourced by ./quickstart and ./check: which Debian packages Weir needs, and how to get them. The lists stand here alone.
WEIR_BUILD_PACKAGES="g++ cmake ninja-build pkg-config libzmq3-dev libjansson-dev libuv1-dev libhwloc-dev libsqlite3-dev
    zlib1g-dev libisal-dev libmimalloc-dev libsodium-dev libwebsockets-dev libcli11-dev libtomlplusplus-dev"
WEIR_TEST_PACKAGES="catch2 librapidcheck-dev libbenchmark-dev sharness python3 jq perl git dpkg-dev file util-linux procps openssl
    clang libclang-rt-14-dev clang-format clang-tidy binutils faketime libnss-wrapper logrotate
    python3-pyte python3-prometheus-client chromium"

# say STEP TEXT: one line of progress.
say() { printf '%-6s %s\n' "$1" "$2"; }

# missing_packages NAME...: those that dpkg does not have installed.
missing_packages() {
    local name
    for name in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s ' "$name"
    done
}

# install_packages NAME...: root installs; anyone else is told the exact line and goes on with what is there.
install_packages() {
    local missing
    missing=$(missing_packages "$@")
    if [ -z "$missing" ]; then
        echo "       all there"
    elif ! command -v apt-get >/dev/null; then
        echo "       not Debian: install the equivalents of: $missing"
    elif [ "$(id -u)" = 0 ]; then
        echo "       installing $(echo $missing | wc -w) packages"
        apt-get update -qq >>"$LOG" 2>&1
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >>"$LOG" 2>&1 || {
            tail -n 20 "$LOG"
            echo "error: apt-get could not install: $missing (whole log: $LOG)"
            return 1
        }
    else
        echo "       missing, and only root can install them. Run this, then this script again:"
        echo "           sudo apt-get install -y --no-install-recommends $missing"
        echo "       going on with what is there"
    fi
}

# quietly COMMAND...: runs it into the log; on failure shows the log's end.
quietly() {
    "$@" >>"$LOG" 2>&1 && return 0
    local rc=$?
    tail -n 40 "$LOG"
    echo "error: '$*' failed (exit $rc); the whole log is $LOG"
    return $rc
}
