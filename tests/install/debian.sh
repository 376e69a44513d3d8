#!/usr/bin/env bash
# debian.sh PROJECT BUILD_DIR VERSION CXX DIRECTORY: the Debian packages of the build, made by
# packaging/debian/run and installed by dpkg below DIRECTORY with a database of its own, have what
# they say: README's program compiles with the headers and runs with the library, the programs run,
# and nothing is left after all are removed. Those that they depend on are not in that database, so
# dpkg is told not to ask for them.
set -euo pipefail

project=$1 build=$2 version=$3 cxx=$4 directory=$5
fail() {
  echo "$1" >&2
  exit 1
}

rm -rf "$directory"
mkdir -p "$directory"/root/var/lib/dpkg/{info,updates,triggers}
touch "$directory/root/var/lib/dpkg/"{status,available}
root=$directory/root
find "$root" -mindepth 1 ! -path "$root/var/lib/dpkg*" | sort > "$directory/before"

packaging=$project/packaging/debian/run
"$packaging" --help | grep -q '^packaging/debian/run ' || fail "--help says nothing"
! "$packaging" --build "$directory" 2> /dev/null || fail "an empty directory was packaged"
! "$packaging" --none 2> /dev/null || fail "an unknown option was taken"
mapfile -t packages < <("$packaging" --build "$build")
((${#packages[@]} == 4)) || fail "these are not four packages: ${packages[*]}"

names=()
for package in "${packages[@]}"; do
  field() { dpkg-deb --field "$package" "$1"; }
  name=$(field Package)
  names+=("$name")
  [[ $(field Version) == "$version" ]] || fail "$name has the version $(field Version)"
  for name_of_field in Architecture Maintainer Section Description Depends; do
    [[ -n $(field $name_of_field) ]] || fail "$name has no $name_of_field"
  done
  # Every package but the one for development has its dependencies from its programs.
  if [[ $name != libbigtable-dev ]]; then
    [[ $(field Depends) == *libc6* && $(field Depends) == *absl* ]] ||
      fail "$name depends on: $(field Depends)"
  fi
  dpkg-deb --contents "$package" | awk '$2 != "root/root" { exit 1 }' || fail "$name: not of root"
done
[[ $(dpkg-deb --info "${packages[3]}" shlibs) == "libbigtable "*" libbigtable"*" (>= $version)" ]] ||
  fail "${packages[3]} says to its users: $(dpkg-deb --info "${packages[3]}" shlibs)"
soname=$(readelf -d "$build/src/libbigtable.so" |
  sed -n 's/.*SONAME.*libbigtable\.so\.\(.*\)\]/\1/p')
expected="bigtable-server bigtable-tools libbigtable$soname libbigtable-dev"
[[ $(sort <<< "$(printf '%s\n' "${names[@]}")") == "$(tr ' ' '\n' <<< "$expected" | sort)" ]] ||
  fail "the packages are ${names[*]}"
dev=$(printf '%s\n' "${packages[@]}" | grep libbigtable-dev)
[[ $(dpkg-deb --field "$dev" Depends) == *"libbigtable$soname (= $version)"* ]] ||
  fail "libbigtable-dev does not depend on its library"

# Scripts of the packages would run in the root, where there is no shell.
in_root=(dpkg --root="$root" --force-depends --force-not-root --force-script-chrootless
  --force-bad-path --log=/dev/null --no-triggers)
"${in_root[@]}" --install "${packages[@]}" > "$directory/install.log" 2>&1 ||
  fail "$(cat "$directory/install.log")"

# As a program finds it in /usr.
libdir=$(dirname "$(find "$root/usr/lib" -name libbigtable.a)")
export LD_LIBRARY_PATH=$libdir
bash "$project/tests/install/readme.sh" "$project" "$libdir" "$cxx" cc "$directory/readme"
for package in bigtable bigtable-testing bigtable-encryption bigtable-remote; do
  says=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --modversion "$package")
  [[ $says == "$version" ]] || fail "$package.pc has the version $says"
done
[[ -e $libdir/libbigtable.so.$version ]] || fail "there is no libbigtable.so.$version"
for program in bigtable bigtable-server; do
  says=$("$root/usr/bin/$program" --version)
  [[ $says == "$program $version" ]] || fail "$program --version says: $says"
  [[ -n $(find "$root/usr/share/man" -name "$program.[18].gz") ]] || fail "$program has no manual"
done
unit=$(find "$root/usr/lib/systemd" -name bigtable-server.service)
grep -q '^ExecStart=/usr/bin/bigtable-server ' "$unit" || fail "$(grep ExecStart "$unit")"
for name in "${names[@]}"; do
  [[ -s $root/usr/share/doc/$name/copyright ]] || fail "$name has no copyright"
done

"${in_root[@]}" --purge "${names[@]}" > "$directory/purge.log" 2>&1 ||
  fail "$(cat "$directory/purge.log")"
find "$root" -mindepth 1 ! -path "$root/var/lib/dpkg*" | sort > "$directory/after"
diff "$directory/before" "$directory/after" || fail "the files above were left"
