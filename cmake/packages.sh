# shellcheck shell=bash disable=SC2034  # what is set here is for those who source it
# The Debian packages that this project needs, and how they are installed. To be sourced:
#
#   . cmake/packages.sh
#   install_packages "${BUILD_PACKAGES[@]}"

# The library and its build.
BUILD_PACKAGES=(cmake g++ ninja-build pkg-config libabsl-dev libre2-dev libxxhash-dev libzstd-dev)
# tests/, and what building all the rest on the way takes.
TEST_PACKAGES=(libbenchmark-dev libgmock-dev libgtest-dev lld)
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
# bench/: the engines to compare with, and what draws the charts.
BENCH_PACKAGES=(libbenchmark-dev libleveldb-dev librocksdb-dev)
PLOT_PACKAGES=(gnuplot-nox)
# tests/fuzz/run.
FUZZ_PACKAGES=(clang libclang-rt-14-dev)
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
