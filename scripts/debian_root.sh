# A Debian 13 root beside the checkout, for machines whose own distribution is too old. Sourced by ./dev.
#
# The root lies in $cache/root-<hash of packages.txt>. It is made in a sibling "<root>.partial" under a lock
# and renamed into place as the last step, so a root that exists is whole: an interrupted set-up leaves only
# the sibling, which the next one removes. Every command runs in a mount namespace of its own, so nothing
# stays mounted on the host, and sees the root read-only, so that nothing installed by hand can stay there.
# Uses `die`, `say`, `run`, `checkout`, `cache` and `packages` of ./dev.

readonly root_suite=trixie
readonly root_space_mb=4000

root_path() {
  echo "$cache/root-$( (echo "layout 2 $root_suite"; packages | sort) | sha256sum | cut -c1-16)"
}

# The first mirror of the host's own apt configuration that carries a plain Debian release; apt reads both of
# its source formats for us.
root_mirror() {
  if [[ -n ${FOREBAY_DEV_MIRROR:-} ]]; then echo "$FOREBAY_DEV_MIRROR"; return; fi
  local host_id host_suite
  host_id=$(. /etc/os-release && echo "${ID:-}")
  host_suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [[ $host_id == debian ]] || return 1
  apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$host_suite" '$2 ~ "^("suite"|stable|oldstable|testing|"suite"/)$" && $3 == "main" {print $1; exit}' |
    grep .
}

# apt's proxy for the mirror, as environment variables that debootstrap's downloader and apt both obey.
root_use_proxy() {
  local scheme=${1%%:*} host=${1#*://} proxy detect
  host=${host%%/*}
  proxy=$(apt-config dump --format '%v%n' "Acquire::$scheme::Proxy::$host" | head -n 1)
  [[ -n $proxy ]] || proxy=$(apt-config dump --format '%f %v%n' "Acquire::$scheme::Proxy" |
    awk -v name="Acquire::$scheme::Proxy" '$1 == name {print $2; exit}')
  if [[ -z $proxy ]]; then
    for detect in Proxy-Auto-Detect ProxyAutoDetect; do
      detect=$(apt-config dump --format '%v%n' "Acquire::$scheme::$detect" | head -n 1)
      [[ -x $detect ]] && proxy=$("$detect" "$1" | head -n 1) && break
    done
  fi
  case $proxy in
    '') ;;
    DIRECT) unset "${scheme}_proxy" ;;
    *) export "${scheme}_proxy=$proxy" ;;
  esac
}

root_require_debootstrap() {
  [[ -x $(command -v debootstrap) && -e /usr/share/keyrings/debian-archive-keyring.gpg ]] && return
  command -v apt-get >/dev/null ||
    die "debootstrap is missing and this machine has no apt: install debootstrap and debian-archive-keyring, then run ./dev again."
  say "installing debootstrap"
  { apt-get update && apt-get install -y --no-install-recommends debootstrap debian-archive-keyring; } \
    >>"$log" 2>&1 || die "debootstrap could not be installed (see $log): install it by hand, then run ./dev again."
}

root_require_space() {
  local free
  free=$(df --output=avail -BM "$cache" | tail -n 1 | tr -dc 0-9)
  ((free >= root_space_mb)) ||
    die "$cache has $free MB free and the Debian 13 root needs $root_space_mb MB: free some space or set XDG_CACHE_HOME to a roomier place."
}

# Runs in a private mount namespace (see root_make).
root_populate() {
  local root=$1 mirror=$2
  debootstrap --variant=minbase --include=ca-certificates \
    --keyring=/usr/share/keyrings/debian-archive-keyring.gpg "$root_suite" "$root" "$mirror" || return
  # Neither documentation nor flushing to disk is worth the time here, and no package may start a service.
  printf 'path-exclude=/usr/share/%s/*\n' doc man locale info >"$root/etc/dpkg/dpkg.cfg.d/lean"
  echo force-unsafe-io >>"$root/etc/dpkg/dpkg.cfg.d/lean"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  local apt=(apt-get -y --no-install-recommends -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3)
  if [[ -s /etc/ssl/certs/ca-certificates.crt ]]; then
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/apt/host-certificates.crt"
    apt+=(-o Acquire::https::CaInfo=/etc/apt/host-certificates.crt)
  fi
  cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
  touch "$root/etc/resolv.conf" "$root/etc/hosts"
  # fusermount3 locks a file in /etc, which is read-only in use.
  ln -s /run/mtab.fuselock "$root/etc/mtab.fuselock"
  mount --rbind /proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" || return
  local inside=(env -u TMPDIR DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
    PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root")
  "${inside[@]}" "${apt[@]}" update || return
  "${inside[@]}" "${apt[@]}" install $(packages) || return
  "${inside[@]}" apt-get clean
}

root_make() {
  local root=$1 mirror lock
  [[ -d $root ]] && return
  make_cache
  exec {lock}>"$cache/root.lock"
  flock --nonblock "$lock" || { say "another ./dev is making the Debian 13 root: waiting for it"; flock "$lock"; }
  if [[ ! -d $root ]]; then
    root_require_space
    log=$cache/setup.log
    : >"$log"
    root_require_debootstrap
    mirror=$(root_mirror) ||
      die "no Debian mirror in this machine's apt configuration: set FOREBAY_DEV_MIRROR to one and run ./dev again."
    root_use_proxy "$mirror"
    rm -rf --one-file-system "$root.partial"
    say "making a Debian 13 root in $root (a few minutes, once; log: $log)"
    export root_suite checkout
    export -f root_populate packages
    # It keeps the lock, so that nobody starts over beside an orphan that is still writing.
    if ! run unshare --mount --propagation private \
        bash -c 'root_populate "$@"' root_populate "$root.partial" "$mirror" >>"$log" 2>&1; then
      tail -n 15 "$log" >&2
      root_require_space
      die "the Debian 13 root could not be made: the reason is above and in $log."
    fi
    mv "$root.partial" "$root"
    say "the Debian 13 root is ready"
  fi
  exec {lock}>&-
}

# Replaces this process by `command...` inside the root, at the same path, with an environment of its own:
# what the host has installed or exported must not be able to stand in for something missing here.
root_enter() {
  local root=$1 keep=() name
  shift
  unshare --mount --propagation private true 2>/dev/null ||
    die "this machine does not let root make a mount namespace (a container?): grant CAP_SYS_ADMIN, or run ./dev on Debian 13 or later."
  for name in $(compgen -e); do
    case $name in
      TERM | COLORTERM | NO_COLOR | CI | FOREBAY_* | GTEST_* | CTEST_* | ASAN_* | UBSAN_* | TSAN_* | LSAN_*)
        keep+=("$name=${!name}") ;;
    esac
  done
  mkdir -p "$cache/store"
  local binds=("$checkout" "$cache/store") git_dir
  git_dir=$(git -c safe.directory='*' -C "$checkout" rev-parse --path-format=absolute --git-common-dir 2>/dev/null) &&
    [[ $git_dir/ != "$checkout"/* ]] && binds+=("$git_dir")
  exec unshare --mount --propagation private bash -c '
    set -e
    root=$1 here=$2 count=$3
    shift 3
    for path in "${@:1:count}"; do mkdir -p "$root$path"; done
    mount --bind "$root" "$root"
    mount -o remount,bind,ro "$root"
    for path in /root /run; do mount -t tmpfs -o mode=755 tmpfs "$root$path"; done
    for path in /etc/hosts /etc/resolv.conf; do
      if [[ -e $path ]]; then mount --bind "$(realpath "$path")" "$root$path"; fi
    done
    for path in /dev /proc /sys /tmp /var/tmp "${@:1:count}"; do
      if [[ ! -d $root$path ]]; then mkdir -p "$root$path"; fi
      mount --rbind "$path" "$root$path"
    done
    shift "$count"
    exec chroot "$root" /usr/bin/env -i --chdir="$here" "$@"
  ' enter "$root" "$(root_working_directory)" "${#binds[@]}" "${binds[@]}" \
    HOME=/root USER=root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    XDG_CACHE_HOME="${cache%/forebay}" "${keep[@]}" "$@"
}

root_working_directory() {
  local here
  here=$(pwd -P)
  [[ $here/ == "$checkout"/* ]] && echo "$here" || echo "$checkout"
}
