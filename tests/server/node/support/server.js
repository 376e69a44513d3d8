// bigtable-server on a directory of its own, and a client of it.
//
// BIGTABLE_SERVER_PROGRAM names the program.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {Bigtable} = require('@google-cloud/bigtable');
const {Child} = require('./child');

const PROJECT = 'local';
const INSTANCE = 'local';

class Server {
  static async start({flags = []} = {}) {
    assert.ok(process.env.BIGTABLE_SERVER_PROGRAM, 'BIGTABLE_SERVER_PROGRAM must name the program bigtable-server');
    const server = new Server();
    server.directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bigtable-node-'));
    server.flags = flags;
    await server.startAt('127.0.0.1:0');
    return server;
  }

  async startAt(address) {
    this.child = await Child.start(
      process.env.BIGTABLE_SERVER_PROGRAM,
      [path.join(this.directory, 'db'), '--address', address, ...this.flags],
      line => /^bigtable-server: serving .* on (\S+)$/.exec(line)?.[1] ?? null
    );
    this.address = this.child.address;
  }

  get pid() {
    return this.child.pid;
  }

  kill() {
    return this.child.end('SIGKILL');
  }

  // Kills it, and starts it again on the same address and directory.
  async killAndStart() {
    await this.kill();
    await this.startAt(this.address);
  }

  // Ends it as an operator would. It must succeed.
  async stop() {
    const end = await this.child.end('SIGTERM');
    fs.rmSync(this.directory, {recursive: true, force: true});
    assert.deepEqual(end, {code: 0, signal: null}, this.child.errors);
  }

  // Bytes of memory that are not files: what `field` of /proc/PID/status says.
  memory(field = 'RssAnon') {
    const status = fs.readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)[1]) * 1024;
  }

  // A client that the test must close. Without metrics: they are for Google's monitoring.
  client(options = {}) {
    return new Bigtable({
      apiEndpoint: this.address,
      projectId: PROJECT,
      metricsEnabled: false,
      ...options,
    });
  }
}

// A server for the tests of a file, with a client and its instance, filled in before the first one.
// Then `prepare` is called: hooks of a file do not wait for one another.
function useServer({before, after}, prepare = async () => {}) {
  const used = {};
  before(async () => {
    used.server = await Server.start();
    used.bigtable = used.server.client();
    used.instance = used.bigtable.instance(INSTANCE);
    await prepare();
  });
  after(async () => {
    if (used.bigtable) await used.bigtable.close();
    if (used.server) await used.server.stop();
  });
  let tables = 0;
  // A new table with these families: an array of names, or the options of createTable.
  used.newTable = async families => {
    const [table] = await used.instance.createTable(`table-${++tables}`, {families});
    return table;
  };
  return used;
}

module.exports = {INSTANCE, PROJECT, Server, useServer};
