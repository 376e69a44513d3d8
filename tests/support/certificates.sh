#!/usr/bin/env bash
# certificates.sh DIRECTORY: makes certificates for tests of TLS in DIRECTORY, NAME.pem with NAME.key
# for each NAME:
#
#   authority, other-authority   sign the others
#   server                       for localhost and 127.0.0.1
#   elsewhere, old-server        for another host; expired
#   alice, bob                   clients, whose common names are these
#   old-alice, false-alice       expired; of the other authority. The common name of both is alice
#   nobody                       a client without a common name
#
# And server-passphrase.key, the key of server with a passphrase.
#
# Ends with 77 where there is no openssl.
set -euo pipefail

command -v openssl > /dev/null || { echo "openssl is not installed" >&2 && exit 77; }
mkdir -p "$1"
cd "$1"

new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)

# authority NAME
authority() {
  openssl req -x509 "${new_key[@]}" -days 2 -subj "/CN=$1" -keyout "$1.key" -out "$1.pem"
}

# sign NAME AUTHORITY SUBJECT DAYS [ALTERNATIVE_NAMES]
sign() {
  openssl req "${new_key[@]}" -subj "$3" -keyout "$1.key" -out "$1.request"
  openssl x509 -req -in "$1.request" -CA "$2.pem" -CAkey "$2.key" -days "$4" -out "$1.pem" \
    ${5:+-extfile <(echo "subjectAltName=$5")}
}

{
  authority authority
  authority other-authority
  sign server authority /CN=server 2 DNS:localhost,IP:127.0.0.1
  sign old-server authority /CN=server -1 DNS:localhost,IP:127.0.0.1
  sign elsewhere authority /CN=elsewhere 2 DNS:elsewhere.example
  sign alice authority /CN=alice 2
  sign bob authority /CN=bob 2
  sign old-alice authority /CN=alice -1
  sign false-alice other-authority /CN=alice 2
  sign nobody authority /O=nobody 2
  openssl pkcs8 -topk8 -v2 aes128 -passout pass:secret -in server.key -out server-passphrase.key
} > log 2>&1 || { cat log >&2 && exit 1; }
