// TLS, certificates of clients and tokens, by the Node client; and addresses that the server refuses.
'use strict';

const assert = require('node:assert/strict');
const {execFileSync, spawnSync} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {after, test} = require('node:test');
const grpc = require('@grpc/grpc-js');
const gax = require('google-gax');
const {INSTANCE, Server} = require('./support/server');

const PERMISSION_DENIED = {code: 7};
const UNAVAILABLE = {code: 14};
const UNAUTHENTICATED = {code: 16};
const TOKEN = 'the-secret-of-carol';

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bigtable-node-'));
after(() => fs.rmSync(directory, {recursive: true}));
const file = name => path.join(directory, name);
const read = name => fs.readFileSync(file(name));

function makeCertificates() {
  try {
    execFileSync(path.join(__dirname, '../../support/certificates.sh'), [directory], {stdio: 'pipe'});
    return false;
  } catch (error) {
    if (error.status === 77) return 'openssl is not installed';
    throw error;
  }
}
const skip = makeCertificates();

const TLS = ['--certificate', file('server.pem'), '--key', file('server.key')];

// A server that cannot be reached is tried again for a minute otherwise.
const ONCE = {
  timeout: 5000,
  retry: {retryCodes: [], backoffSettings: gax.createDefaultBackoffSettings()},
};

// A server that ends with the test `t`.
async function start(t, flags) {
  const server = await Server.start({flags});
  t.after(() => server.stop());
  return server;
}

// What a client does with `server` as `name`, with its certificate unless that is empty.
async function asClient(server, {authority = 'authority', name = '', token = ''}, use) {
  const client = server.client({
    sslCreds: grpc.credentials.createSsl(
      read(`${authority}.pem`),
      ...(name ? [read(`${name}.key`), read(`${name}.pem`)] : [])
    ),
  });
  const headers = token ? {authorization: `Bearer ${token}`} : {};
  try {
    return await use(client.instance(INSTANCE), {otherArgs: {headers}, ...ONCE});
  } finally {
    await client.close();
  }
}

const createTable = id => (instance, gaxOptions) =>
  instance.createTable(id, {families: ['f'], gaxOptions});
const getTables = (instance, gaxOptions) => instance.getTables({gaxOptions});

test('a client trusts the server whose certificate its authority has signed', {skip}, async t => {
  const server = await start(t, TLS);
  await asClient(server, {}, createTable('t'));
  await asClient(server, {}, async instance => {
    await instance.table('t').insert({key: 'r', data: {f: {q: 'v'}}});
    assert.equal((await instance.table('t').getRows())[0][0].data.f.q[0].value, 'v');
  });
  await assert.rejects(asClient(server, {authority: 'other-authority'}, getTables), error => {
    assert.equal(error.code, 14);
    assert.match(error.message, /certificate/);
    return true;
  });
  // In plain text there is no answer.
  const plain = server.client();
  await assert.rejects(plain.instance(INSTANCE).getTables({gaxOptions: ONCE}), UNAVAILABLE);
  await plain.close();
});

test("the common name of a client's certificate is the caller", {skip}, async t => {
  const authority = ['--client-authority', file('authority.pem'), '--administrators', 'alice'];
  const server = await start(t, [...TLS, ...authority]);
  await asClient(server, {name: 'alice'}, createTable('t'));
  await assert.rejects(asClient(server, {name: 'bob'}, createTable('u')), PERMISSION_DENIED);
  await asClient(server, {name: 'bob'}, instance =>
    instance.table('t').insert({key: 'r', data: {f: {q: 'v'}}})
  );
  await assert.rejects(asClient(server, {name: 'nobody'}, getTables), UNAUTHENTICATED);
  for (const name of ['', 'false-alice', 'old-alice']) {
    await assert.rejects(asClient(server, {name}, getTables), UNAVAILABLE, name);
  }
});

test('with tokens and an authority a caller has either', {skip}, async t => {
  fs.writeFileSync(file('tokens'), `carol ${TOKEN}\n`, {mode: 0o600});
  const callers = ['--client-authority', file('authority.pem'), '--tokens', file('tokens')];
  const server = await start(t, [...TLS, ...callers, '--administrators', 'alice,carol']);
  await asClient(server, {name: 'alice'}, createTable('t'));
  await asClient(server, {token: TOKEN}, createTable('u'));
  await assert.rejects(asClient(server, {}, getTables), UNAUTHENTICATED);
  await assert.rejects(asClient(server, {token: 'wrong'}, getTables), UNAUTHENTICATED);
  const both = {name: 'alice', token: 'wrong'};
  await assert.rejects(asClient(server, both, getTables), UNAUTHENTICATED);
});

test('the server does not start where others could read or write unseen', {skip}, () => {
  fs.writeFileSync(file('tokens'), `carol ${TOKEN}\n`, {mode: 0o600});
  const tokens = ['--tokens', file('tokens')];
  const database = file('never');
  const start = flags =>
    spawnSync(process.env.BIGTABLE_SERVER_PROGRAM, [database, ...flags], {encoding: 'utf8', timeout: 20_000});
  for (const [flags, text] of [
    [['--address', '0.0.0.0:0'], /give --certificate and --key for TLS, or --plaintext/],
    [['--address', '0.0.0.0:0', ...tokens], /give --certificate and --key/],
    [['--address', '0.0.0.0:0', '--plaintext'], /callers must say who they are/],
    [['--address', '0.0.0.0:0', ...TLS], /callers must say who they are/],
    [['--address', '127.0.0.1:0', '--http', '0.0.0.0:0'], /--http 0\.0\.0\.0:0 can be reached/],
    [['--address', '127.0.0.1:0', ...TLS.slice(0, 2)], /must be given together/],
    [['--address', '127.0.0.1:0', ...TLS.slice(0, 2), '--key', file('alice.key')], /is not the key of/],
  ]) {
    const end = start(flags);
    assert.equal(end.status, 2, flags.join(' ') + end.stderr);
    assert.match(end.stderr, text);
    assert.equal(end.stdout, '');
  }
});
