# shellcheck shell=bash disable=SC2034  # what is set here is for those who source it
# The Debian packages that this project needs, and how they are installed. To be sourced:
#
#   . cmake/packages.sh
#   install_packages "${BUILD_PACKAGES[@]}"

# The library and its build.
BUILD_PACKAGES=(cmake g++ ninja-build pkg-config libabsl-dev libre2-dev liburing-dev
  libxxhash-dev libzstd-dev)
# tests/, and what building all the rest on the way takes.
TEST_PACKAGES=(libbenchmark-dev libgmock-dev libgtest-dev lld)
# encryption/.
ENCRYPTION_PACKAGES=(libssl-dev)
# examples/. The pages are what the webtable example reads when it is given no others.
EXAMPLE_PACKAGES=(libgumbo-dev python3 zlib1g-dev)
EXAMPLE_PAGES_PACKAGE=postgresql-doc-15
# tools/.
TOOL_PACKAGES=(libcli11-dev nlohmann-json3-dev)
# server/. With npm, CMake fetches what the packages do not have (server/protos/fetch); Node may be
# there from elsewhere.
SERVER_PACKAGES=(libbrotli-dev libcli11-dev libcpp-httplib-dev libgrpc++-dev libprotobuf-dev
  libssl-dev nlohmann-json3-dev protobuf-compiler protobuf-compiler-grpc zlib1g-dev)
if ! command -v npm > /dev/null; then
  SERVER_PACKAGES+=(nodejs npm)
fi
# The test of the server's status page.
PAGE_PACKAGES=(chromium)
# The preset arm64: a compiler and an emulator, and the packages for arm64 that it compiles with.
ARM64_PACKAGES=(g++-aarch64-linux-gnu qemu-user)
ARM64_SYSROOT_PACKAGES=(libabsl-dev libatomic1 libgmock-dev libre2-dev libxxhash-dev libzstd-dev)
# bench/: the engines to compare with, those of bench/memory, and what draws the charts.
BENCH_PACKAGES=(libbenchmark-dev libleveldb-dev liblmdb-dev librocksdb-dev)
MEMORY_BENCH_PACKAGES=(liblmdb-dev librocksdb-dev)
PLOT_PACKAGES=(gnuplot-nox)
# The presets asan, tsan and fuzz.
SANITIZER_PACKAGES=(clang libclang-rt-14-dev)
# tools/check.
CHECK_PACKAGES=(clang clang-format clang-tidy shellcheck)
# packaging/debian/run, and the test of the packages.
DEBIAN_PACKAGES=(dpkg-dev file)
# docs/run: the API reference.
DOC_PACKAGES=(doxygen python3)

# install_packages PACKAGE...: installs those that are missing, and only those. Needs root, or sudo,
# only if there are any.
install_packages() {
  local package missing=()
  for package in "$@"; do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) != installed ]]; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]} > 0)); then
    apt_install "${missing[@]}"
  fi
}

# Not for others: apt_install [OPTION...] PACKAGE...
apt_install() {
  local as_root=()
  if (($(id -u) != 0)); then
    if ! command -v sudo > /dev/null; then
      echo "$0: needs these packages, and is neither root nor has sudo: $*" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  # Images for containers leave documentation out when they install a package; the pages that an
  # example reads are documentation.
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get install -y -q --no-install-recommends
    -o DPkg::Lock::Timeout=300
    -o Dpkg::Options::="--path-include=/usr/share/doc/$EXAMPLE_PAGES_PACKAGE/*"
    "$@")
  echo "Installing: $*"
  # A machine that never asked for the lists of packages knows none, and one whose lists are old
  # asks for versions that are gone.
  if ! "${install[@]}" < /dev/null > /dev/null 2>&1; then
    "${as_root[@]}" apt-get update -q -o DPkg::Lock::Timeout=300 < /dev/null
    "${install[@]}" < /dev/null
  fi
}

# arm64_sysroot DIRECTORY: unpacks ARM64_SYSROOT_PACKAGES for arm64, and what they depend on, in
# DIRECTORY, unless they are there. The packages of this machine stay as they are: apt gets another
# state, of a machine that has none.
arm64_sysroot() {
  local root apt_root package list="${ARM64_SYSROOT_PACKAGES[*]}"
  root=$(realpath -m "$1")
  apt_root=$root.apt
  [[ $(cat "$root/packages" 2> /dev/null) != "$list" ]] || return 0
  rm -rf "$root" "$apt_root"
  mkdir -p "$root" "$apt_root"/{lists,archives}/partial
  touch "$apt_root/status"
  local apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64
    -o APT::Sandbox::User= -o Dir::State="$apt_root" -o Dir::State::Status="$apt_root/status"
    -o Dir::Cache="$apt_root")
  echo "Unpacking in $root: $list"
  "${apt[@]}" update < /dev/null > /dev/null
  "${apt[@]}" install -y --no-install-recommends --download-only "${ARM64_SYSROOT_PACKAGES[@]}" \
    < /dev/null > /dev/null
  for package in "$apt_root"/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
  done
  rm -rf "$apt_root"
  echo "$list" > "$root/packages"
}

# example_pages: prints the directory of the pages that the webtable example reads by default, after
# making sure that it is there.
example_pages() {
  install_packages "$EXAMPLE_PAGES_PACKAGE" >&2
  local pages
  pages=$(dpkg -L "$EXAMPLE_PAGES_PACKAGE" | grep -m 1 '/html$')
  if [[ ! -e $pages/index.html ]]; then
    apt_install --reinstall "$EXAMPLE_PAGES_PACKAGE" >&2
  fi
  echo "$pages"
}
