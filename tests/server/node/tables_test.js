// Tables, families and ranges of rows, by the classes Table and Family.
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {RawClient} = require('./support/raw');
const {INSTANCE, PROJECT, useServer} = require('./support/server');

const used = useServer({before, after});
const NOT_FOUND = {code: 5};
const ALREADY_EXISTS = {code: 6};
const INVALID = {code: 3};
const UNIMPLEMENTED = {code: 12};

test('a table is created, found, listed and deleted', async () => {
  const table = used.instance.table('life');
  assert.deepEqual(await table.exists(), [false]);
  await assert.rejects(table.get(), NOT_FOUND);
  const [created] = await table.create({families: ['f'], splits: [Buffer.from('k'), Buffer.from('p')]});
  assert.equal(created.id, 'life');
  assert.deepEqual(await table.exists(), [true]);
  await assert.rejects(table.create(), ALREADY_EXISTS);
  const [tables] = await used.instance.getTables();
  assert.ok(tables.some(listed => listed.id === 'life'));
  const [metadata] = await table.getMetadata();
  assert.equal(metadata.name, `projects/${PROJECT}/instances/${INSTANCE}/tables/life`);
  await table.delete();
  assert.deepEqual(await table.exists(), [false]);
  await assert.rejects(table.delete(), NOT_FOUND);
});

test('get creates a table if it may', async () => {
  const [table] = await used.instance.table('automatic').get({autoCreate: true});
  assert.deepEqual(await table.exists(), [true]);
});

test('a deleted table that is created again is empty', async () => {
  const table = used.instance.table('again');
  await table.create({families: ['f']});
  await table.insert({key: 'r', data: {f: {q: 'old'}}});
  await table.delete();
  await assert.rejects(table.getRows(), NOT_FOUND);
  await table.create({families: ['f']});
  assert.deepEqual(await table.getRows(), [[]]);
});

test('tables are listed by pages, and as a stream', async () => {
  const instance = used.bigtable.instance('paged');
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await instance.createTable(name);
  const [page, next] = await instance.getTables({gaxOptions: {pageSize: 2, autoPaginate: false}});
  assert.deepEqual(page.map(table => table.id), ['a', 'b']);
  assert.ok(next.pageToken);
  const streamed = [];
  for await (const table of instance.getTablesStream()) streamed.push(table.id);
  assert.deepEqual(streamed.sort(), names);
  // Another instance has none of them.
  const [others] = await used.bigtable.instance('other').getTables();
  assert.deepEqual(others, []);
});

test('ids that are no ids are refused', async () => {
  for (const id of ['a b', 'x'.repeat(51), 'ä']) {
    await assert.rejects(used.instance.createTable(id), INVALID, id);
  }
  await assert.rejects(used.instance.createTable('t', {families: ['a:b']}), INVALID);
});

test('families are created, changed and deleted', async () => {
  const table = await used.newTable(['f']);
  const family = table.family('g');
  assert.deepEqual(await family.exists(), [false]);
  await family.create({rule: {versions: 2}});
  assert.deepEqual(await family.exists(), [true]);
  await assert.rejects(family.create(), ALREADY_EXISTS);
  const [families] = await table.getFamilies();
  assert.deepEqual(families.map(found => found.id).sort(), ['f', 'g']);
  await family.setMetadata({rule: {versions: 3}});
  const [metadata] = await family.getMetadata();
  assert.equal(metadata.gcRule.maxNumVersions, 3);
  const [found] = await family.get();
  assert.equal(found.id, 'g');
  await family.delete();
  assert.deepEqual(await family.exists(), [false]);
  await assert.rejects(family.delete(), NOT_FOUND);
  await assert.rejects(family.setMetadata({rule: {versions: 1}}), NOT_FOUND);
  await table.family('h').get({autoCreate: true});
  assert.deepEqual(await table.family('h').exists(), [true]);
});

test('a deleted family takes its cells with it', async () => {
  const table = await used.newTable(['f', 'g']);
  await table.insert({key: 'r', data: {f: {q: 'kept'}, g: {q: 'lost'}}});
  await table.family('g').delete();
  await table.createFamily('g');
  const [rows] = await table.getRows();
  assert.deepEqual(Object.keys(rows[0].data), ['f']);
});

test('garbage collection rules of every kind come back as they were given', async () => {
  const age = {seconds: 3600, nanos: 0};
  const rules = {
    versions: [{versions: 2}, {maxNumVersions: 2}],
    age: [{age}, {maxAge: 3600}],
    union: [
      {versions: 2, age, union: true},
      {union: [{maxAge: 3600}, {maxNumVersions: 2}]},
    ],
    intersection: [
      {versions: 2, age},
      {intersection: [{maxAge: 3600}, {maxNumVersions: 2}]},
    ],
  };
  const table = await used.newTable(
    Object.entries(rules).map(([name, [rule]]) => ({name, rule}))
  );
  const [metadata] = await table.getMetadata();
  for (const [name, [, expected]] of Object.entries(rules)) {
    assert.deepEqual(readable(metadata.columnFamilies[name].gcRule), expected, name);
  }
  await assert.rejects(table.createFamily('bad', {rule: {versions: -1}}), INVALID);
});

// A GcRule as the client writes it, parts of a union or intersection in one order.
function readable(rule) {
  if (rule.maxNumVersions) return {maxNumVersions: rule.maxNumVersions};
  if (rule.maxAge) return {maxAge: Number(rule.maxAge.seconds)};
  const kind = rule.union ? 'union' : 'intersection';
  const parts = rule[kind].rules.map(readable);
  return {[kind]: parts.sort((a, b) => (Object.keys(a)[0] < Object.keys(b)[0] ? -1 : 1))};
}

test('reads see what the garbage collection rule keeps', async () => {
  const table = await used.newTable([{name: 'two', rule: {versions: 2}}, 'all']);
  const data = timestamp => ({
    two: {q: {value: `v${timestamp}`, timestamp}},
    all: {q: {value: `v${timestamp}`, timestamp}},
  });
  for (const timestamp of [1000, 2000, 3000]) {
    await table.insert({key: 'r', data: data(timestamp)});
  }
  const [row] = await table.row('r').get();
  assert.deepEqual(row.data.two.q.map(cell => cell.value), ['v3000', 'v2000']);
  assert.deepEqual(row.data.all.q.map(cell => cell.value), ['v3000', 'v2000', 'v1000']);
});

// Value types have no class of their own in the client.
test('aggregates add up, and keep the least and the greatest', async () => {
  const raw = new RawClient(used.server.address, PROJECT, INSTANCE);
  const int64Type = {encoding: {bigEndianBytes: {}}};
  const family = aggregator => ({
    valueType: {aggregateType: {inputType: {int64Type}, [aggregator]: {}}},
  });
  await raw.tables.createTable({
    parent: raw.instance,
    tableId: 'aggregates',
    table: {columnFamilies: {sum: family('sum'), min: family('min'), max: family('max')}},
  });
  const tableName = raw.table('aggregates');
  for (const input of [5, -7, 1000]) {
    const mutations = ['sum', 'min', 'max'].map(familyName => ({
      addToCell: {
        familyName,
        columnQualifier: {rawValue: Buffer.from('q')},
        timestamp: {rawTimestampMicros: 1000},
        input: {intValue: input},
      },
    }));
    await raw.call('mutateRow', {tableName, rowKey: Buffer.from('r'), mutations});
  }
  const [row] = await raw.readRows({tableName});
  const values = Object.fromEntries(
    row.cells.map(cell => [
      cell.family,
      Number(Buffer.from(cell.value, 'latin1').readBigInt64BE()),
    ])
  );
  assert.deepEqual(values, {max: 1000, min: -7, sum: 998});
  const [metadata] = await used.instance.table('aggregates').getMetadata();
  assert.ok(metadata.columnFamilies.sum.valueType.aggregateType.sum);
  await raw.close();
});

test('deleteRows drops the rows of a prefix, and truncate all', async () => {
  const table = await used.newTable(['f']);
  const keys = ['a', 'p', 'pa', 'p\xff', 'q'];
  await table.insert(keys.map(key => ({key: Buffer.from(key, 'latin1'), data: {f: {q: 'v'}}})));
  await table.deleteRows('p');
  const [rows] = await table.getRows();
  assert.deepEqual(rows.map(row => row.id), ['a', 'q']);
  await table.deleteRows('nothing has it');
  await table.truncate();
  assert.deepEqual(await table.getRows(), [[]]);
  await table.insert({key: 'p', data: {f: {q: 'new'}}});
  assert.equal((await table.getRows())[0].length, 1);
  await assert.rejects(used.instance.table('missing').truncate(), NOT_FOUND);
});

test('consistency is immediate', async () => {
  const table = await used.newTable(['f']);
  const [token] = await table.generateConsistencyToken();
  assert.deepEqual(await table.checkConsistency(token), [true]);
  assert.deepEqual(await table.waitForReplication(), [true]);
  await assert.rejects(table.checkConsistency('made up'), INVALID);
});

test('row keys are sampled where the table is split', async () => {
  const [table] = await used.instance.createTable('sampled', {
    families: ['f'],
    splits: [Buffer.from('k'), Buffer.from('p')],
  });
  const [samples] = await table.sampleRowKeys();
  const keys = samples.map(sample => sample.key.toString());
  assert.deepEqual(keys, ['k', 'p', '']);
  const streamed = [];
  for await (const sample of table.sampleRowKeysStream()) streamed.push(sample.key.toString());
  assert.deepEqual(streamed, keys);
});

test('what the server does not have is unimplemented', async () => {
  const table = await used.newTable(['f']);
  await assert.rejects(table.getIamPolicy(), UNIMPLEMENTED);
});
