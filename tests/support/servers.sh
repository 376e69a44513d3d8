# shellcheck shell=bash disable=SC2034  # what is set here is for those who source it
# bigtable-server, and Google's emulator where it is installed, as processes of a test. To be sourced.

# find_emulator: prints the path of the program, which BIGTABLE_EMULATOR may name. Fails where there
# is none.
find_emulator() {
  local directory program
  if [[ -n ${BIGTABLE_EMULATOR-} ]]; then
    echo "$BIGTABLE_EMULATOR"
    return
  fi
  command -v cbtemulator && return
  for directory in /usr/lib /usr/share /usr/local /opt "${HOME-}"; do
    program=$directory/google-cloud-sdk/platform/bigtable-emulator/cbtemulator
    [[ ! -x $program ]] || { echo "$program" && return; }
  done
  return 1
}

# start LOG PATTERN COMMAND...: starts a server and waits until it has printed an address that follows
# PATTERN. Sets `server_pid` and `server_address`. The caller ends it.
start() {
  local log=$1 pattern=$2
  shift 2
  : > "$log"
  "$@" > "$log" 2>&1 &
  server_pid=$!
  for _ in {1..600}; do
    server_address=$(sed -nE "s/.*$pattern (127\.0\.0\.1:[0-9]+)$/\1/p" "$log")
    [[ -z $server_address ]] || return 0
    kill -0 "$server_pid" 2> /dev/null || break
    sleep 0.05
  done
  echo "no address from: $*" >&2
  cat "$log" >&2
  return 1
}

# start_emulator LOG
start_emulator() {
  local program
  program=$(find_emulator) || return 1
  start "$1" "running on" "$program" -host 127.0.0.1 -port 0
}

# start_server LOG PROGRAM DIRECTORY OPTION...
start_server() {
  local log=$1 program=$2 directory=$3
  shift 3
  start "$log" "serving .* on" "$program" "$directory" --address 127.0.0.1:0 --http "" "$@"
}
