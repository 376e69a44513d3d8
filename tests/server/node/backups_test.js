// Backups of tables: created, listed, changed, copied and restored; and a server that is killed
// meanwhile.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {before, after, test} = require('node:test');
const {INSTANCE, Server} = require('./support/server');

const used = {};

before(async () => {
  used.directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bigtable-node-backups-'));
  used.server = await Server.start({flags: ['--backups', path.join(used.directory, 'backups')]});
  used.bigtable = used.server.client();
  used.instance = used.bigtable.instance(INSTANCE);
  used.cluster = used.instance.cluster(`${INSTANCE}-c1`);
});

after(async () => {
  if (used.bigtable) await used.bigtable.close();
  if (used.server) await used.server.stop();
  fs.rmSync(used.directory, {recursive: true, force: true});
});

const NOT_FOUND = {code: 5};
const ALREADY_EXISTS = {code: 6};
const inHours = hours => new Date(Date.now() + hours * 3_600_000);

async function newTable(name, rows) {
  const [table] = await used.instance.createTable(name, {families: ['f']});
  await table.insert(
    Array.from({length: rows}, (_, i) => ({
      key: `row-${String(i).padStart(4, '0')}`,
      data: {f: {q: {value: `v${i}`, timestamp: 1000}}},
    }))
  );
  return table;
}

async function newBackup(id, table, hours = 5) {
  const [backup, operation] = await used.cluster.createBackup(id, {
    table,
    expireTime: inHours(hours),
  });
  await operation.promise();
  return backup;
}

const idsOf = backups => backups.map(backup => backup.id).sort();

async function valuesOf(table) {
  const [rows] = await table.getRows();
  return rows.map(row => row.data.f.q[0].value);
}

test('a table is backed up and restored', async () => {
  const table = await newTable('table', 300);
  const expected = await valuesOf(table);
  const backup = await newBackup('backup', table);
  const [metadata] = await backup.getMetadata();
  assert.equal(metadata.state, 'READY');
  assert.equal(metadata.sourceTable, table.name);
  assert.ok(Number(metadata.sizeBytes) > 0);
  assert.ok(backup.expireDate > inHours(4) && backup.expireDate < inHours(6));
  assert.ok(backup.endDate <= new Date());
  await table.truncate();

  const [restored, operation] = await backup.restore('restored');
  const [response] = await operation.promise();
  assert.equal(response.name, restored.name);
  assert.deepEqual(await valuesOf(restored), expected);
  assert.deepEqual(await valuesOf(table), []);
  await assert.rejects(backup.restore('restored'), ALREADY_EXISTS);
  const [again, second] = await used.instance.createTableFromBackup({
    table: 'again',
    backup: backup.name,
  });
  await second.promise();
  assert.deepEqual(await valuesOf(again), expected);
});

test('backups are listed, changed, copied and deleted', async () => {
  const table = await newTable('listed', 10);
  const first = await newBackup('first', table);
  await newBackup('second', table);
  await assert.rejects(used.cluster.createBackup('first', {table, expireTime: inHours(1)}), ALREADY_EXISTS);
  const [ofCluster] = await used.cluster.getBackups();
  assert.deepEqual(idsOf(ofCluster), ['backup', 'first', 'second']);
  const [ofInstance] = await used.instance.getBackups();
  assert.deepEqual(idsOf(ofInstance), ['backup', 'first', 'second']);

  await first.setMetadata({expireTime: inHours(20)});
  await first.getMetadata();
  assert.ok(first.expireDate > inHours(19));

  const [copy, operation] = await first.copy({
    cluster: used.cluster,
    id: 'copy',
    expireTime: inHours(9),
  });
  await operation.promise();
  const [metadata] = await copy.getMetadata();
  assert.equal(metadata.sourceBackup, first.name);
  await first.delete();
  await assert.rejects(first.getMetadata(), NOT_FOUND);
  const [restored, restore] = await copy.restore('of-copy');
  await restore.promise();
  assert.equal((await valuesOf(restored)).length, 10);
});

test('a server that is killed keeps its backups', {timeout: 90_000}, async () => {
  const table = await newTable('killed', 50);
  const backup = await newBackup('kept', table);
  for (let i = 0; i < 5; ++i) {
    const [, operation] = await backup.restore(`killed-${i}`);
    if (i % 2 === 0) await used.server.killAndStart();
    await operation.promise().catch(() => {}); // which another server does not know
    // It is there whole, or not at all.
    const restored = used.instance.table(`killed-${i}`);
    const [exists] = await restored.exists();
    if (exists) assert.equal((await valuesOf(restored)).length, 50);
  }
  await used.server.killAndStart();
  const [restored, operation] = await backup.restore('after');
  await operation.promise();
  assert.equal((await valuesOf(restored)).length, 50);
});
