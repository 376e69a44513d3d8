// Google's emulator of Bigtable, where it is installed.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {Child} = require('./child');

// As in tests/support/servers.sh.
const PROGRAMS = [
  process.env.BIGTABLE_EMULATOR,
  ...(process.env.PATH ?? '').split(':').map(directory => path.join(directory, 'cbtemulator')),
  ...['/usr/lib', '/usr/share', '/usr/local', '/opt', process.env.HOME ?? '/'].map(directory =>
    path.join(directory, 'google-cloud-sdk/platform/bigtable-emulator/cbtemulator')
  ),
];

// The path of the program, or null.
function findEmulator() {
  return PROGRAMS.find(program => program && fs.existsSync(program)) ?? null;
}

function startEmulator(program) {
  return Child.start(
    program,
    ['-host', '127.0.0.1', '-port', '0'],
    line => /running on (\S+)$/.exec(line)?.[1] ?? null
  );
}

module.exports = {findEmulator, startEmulator};
