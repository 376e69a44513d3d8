// Callers that say who they are by a bearer token.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {test} = require('node:test');
const {INSTANCE, Server} = require('./support/server');

const PERMISSION_DENIED = {code: 7};
const UNAUTHENTICATED = {code: 16};
const withToken = token => ({otherArgs: {headers: {authorization: `Bearer ${token}`}}});

test('only a caller with a token is served, and only an administrator creates tables', async t => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bigtable-node-'));
  t.after(() => fs.rmSync(directory, {recursive: true}));
  const tokens = path.join(directory, 'tokens');
  fs.writeFileSync(tokens, 'alice the-secret-of-alice\nbob the-secret-of-bob\n', {mode: 0o600});
  const server = await Server.start({flags: ['--tokens', tokens, '--administrators', 'alice']});
  const client = server.client();
  const instance = client.instance(INSTANCE);
  const gaxOptions = withToken('the-secret-of-alice');

  await assert.rejects(instance.createTable('t', {families: ['f']}), UNAUTHENTICATED);
  const byBob = {families: ['f'], gaxOptions: withToken('the-secret-of-bob')};
  await assert.rejects(instance.createTable('t', byBob), PERMISSION_DENIED);
  const [table] = await instance.createTable('t', {families: ['f'], gaxOptions});
  const entry = () => ({key: 'r', data: {f: {q: 'v'}}});
  for (const options of [{}, withToken('wrong'), withToken('')]) {
    await assert.rejects(table.insert(entry(), options), UNAUTHENTICATED);
    await assert.rejects(table.getRows({gaxOptions: options}), UNAUTHENTICATED);
    await assert.rejects(table.row('r').increment('f:n', 1, options), UNAUTHENTICATED);
    await assert.rejects(table.getMetadata({gaxOptions: options}), UNAUTHENTICATED);
  }
  await table.insert(entry(), withToken('the-secret-of-bob'));
  assert.equal((await table.getRows({gaxOptions: withToken('the-secret-of-alice')}))[0].length, 1);
  await client.close();
  await server.stop();
});
