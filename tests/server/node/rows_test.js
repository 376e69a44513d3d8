// Writing and reading rows, by the classes Table and Row.
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {RawClient, bytes} = require('./support/raw');
const {INSTANCE, PROJECT, Server, useServer} = require('./support/server');
const {Bigtable} = require('@google-cloud/bigtable');

const used = useServer({before, after});
const NOT_FOUND = {code: 5};
const INVALID = {code: 3};

// {family: {qualifier: [[timestamp, value], ...]}}
function cells(row) {
  return Object.fromEntries(
    Object.entries(row.data).map(([family, columns]) => [
      family,
      Object.fromEntries(
        Object.entries(columns).map(([qualifier, versions]) => [
          qualifier,
          versions.map(cell => [Number(cell.timestamp), cell.value]),
        ])
      ),
    ])
  );
}

async function keys(table, options) {
  const [rows] = await table.getRows(options);
  return rows.map(row => row.id);
}

test('a row is saved, found and deleted', async () => {
  const table = await used.newTable(['f', 'g']);
  const row = table.row('r');
  assert.deepEqual(await row.exists(), [false]);
  await assert.rejects(row.get(), {code: 404});
  await row.save({f: {q: {value: 'old', timestamp: 1000}, p: {value: '', timestamp: 1000}}});
  await row.save({f: {q: {value: 'new', timestamp: 2000}}});
  await row.create({entry: {g: {q: {value: 'created', timestamp: 3000}}}});
  assert.deepEqual(await row.exists(), [true]);
  const [found] = await row.get();
  assert.deepEqual(cells(found), {
    f: {p: [[1000, '']], q: [[2000, 'new'], [1000, 'old']]},
    g: {q: [[3000, 'created']]},
  });
  const [columns] = await row.get(['f:q', 'g']);
  assert.deepEqual(Object.keys(columns).sort(), ['f', 'g']);
  assert.deepEqual(Object.keys(columns.f), ['q']);
  await row.delete();
  assert.deepEqual(await row.exists(), [false]);
});

test('cells are deleted by column, time range and family', async () => {
  const table = await used.newTable(['f', 'g']);
  const at = timestamp => ({value: 'v', timestamp});
  for (const ms of [1, 2, 3, 4]) {
    await table.row('r').save({f: {p: at(ms * 1000), q: at(ms * 1000)}, g: {p: at(ms * 1000)}});
  }
  const timesOf = async () => {
    const [row] = await table.row('r').get();
    return Object.fromEntries(
      Object.entries(cells(row)).map(([family, columns]) => [
        family,
        Object.fromEntries(
          Object.entries(columns).map(([q, versions]) => [q, versions.map(([time]) => time / 1000)])
        ),
      ])
    );
  };
  await table.mutate({
    method: 'delete',
    key: 'r',
    data: [{column: 'f:p', time: {start: new Date(2), end: new Date(4)}}],
  });
  assert.deepEqual(await timesOf(), {f: {p: [4, 1], q: [4, 3, 2, 1]}, g: {p: [4, 3, 2, 1]}});
  await table.row('r').deleteCells(['f:q']);
  assert.deepEqual(await timesOf(), {f: {p: [4, 1]}, g: {p: [4, 3, 2, 1]}});
  await table.row('r').deleteCells(['g']);
  assert.deepEqual(await timesOf(), {f: {p: [4, 1]}});
});

test('without a timestamp a cell gets the time', async () => {
  const table = await used.newTable(['f']);
  const began = Date.now();
  await table.insert({key: 'r', data: {f: {q: 'client'}}});
  const raw = new RawClient(used.server.address, PROJECT, INSTANCE);
  const setCell = {
    familyName: 'f',
    columnQualifier: bytes('server'),
    timestampMicros: -1,
    value: bytes('v'),
  };
  const tableName = raw.table(table.id);
  await raw.call('mutateRow', {tableName, rowKey: bytes('r'), mutations: [{setCell}]});
  const [row] = await raw.readRows({tableName});
  for (const cell of row.cells) {
    assert.equal(cell.timestamp % 1000, 0);
    const milliseconds = cell.timestamp / 1000;
    assert.ok(milliseconds >= began && milliseconds <= Date.now(), String(milliseconds));
  }
  await raw.close();
});

test('entries of a mutate that fail are named, and the others are applied', async () => {
  const table = await used.newTable(['f']);
  const entry = (key, family, timestamp = 1000) => ({
    method: 'insert',
    key,
    data: {[family]: {q: {value: 'v', timestamp}}},
  });
  const entries = [entry('a', 'f'), entry('b', 'missing'), entry('c', 'f'), entry('d', 'f', 1500)];
  await assert.rejects(table.mutate(entries), error => {
    assert.equal(error.name, 'PartialFailureError');
    assert.deepEqual(error.errors.map(failed => [failed.entry.key, failed.code]), [
      ['b', 5],
      ['d', 3],
    ]);
    return true;
  });
  assert.deepEqual(await keys(table), ['a', 'c']);
});

test('a refused mutation changes nothing, whatever is before it', async () => {
  const table = await used.newTable(['f']);
  const raw = new RawClient(used.server.address, PROJECT, INSTANCE);
  const tableName = raw.table(table.id);
  const cell = {familyName: 'f', columnQualifier: bytes('q'), timestampMicros: 1000};
  const bad = [
    [5, {setCell: {...cell, familyName: 'missing'}}],
    [3, {setCell: {...cell, timestampMicros: 1500}}],
    [3, {setCell: {...cell, timestampMicros: -2}}],
    [5, {deleteFromFamily: {familyName: 'missing'}}],
    [3, {}],
  ];
  for (const [code, mutation] of bad) {
    const mutations = [{setCell: cell}, mutation];
    await assert.rejects(raw.call('mutateRow', {tableName, rowKey: bytes('r'), mutations}), {code});
  }
  for (const rowKey of ['', 'x'.repeat(4097)]) {
    const request = {tableName, rowKey: bytes(rowKey), mutations: [{setCell: cell}]};
    await assert.rejects(raw.call('mutateRow', request), INVALID);
  }
  assert.deepEqual(await raw.readRows({tableName}), []);
  await raw.close();
});

test('bytes are kept as they are', async () => {
  const table = await used.newTable(['f']);
  const all = Buffer.from(Array.from({length: 256}, (_, i) => i));
  await table.insert({key: all, data: {f: {q: {value: all, timestamp: 1000}}}});
  const [rows] = await table.getRows({decode: false});
  assert.ok(rows[0].id.equals(all));
  assert.ok(rows[0].data.f.q[0].value.equals(all));
});

test('numbers are incremented and values appended to', async () => {
  const table = await used.newTable(['f']);
  const row = table.row('r');
  assert.equal((await row.increment('f:count'))[0], 1);
  assert.equal((await row.increment('f:count', 41))[0], 42);
  assert.equal((await row.increment('f:count', -2))[0], 40);
  await row.createRules([{column: 'f:text', append: 'a'}, {column: 'f:count', increment: 1}]);
  await row.createRules({column: 'f:text', append: 'b'});
  await row.createRules([
    {column: 'f:twice', append: 'a'},
    {column: 'f:twice', append: 'b'},
  ]);
  const [found] = await row.get({decode: false});
  assert.deepEqual(found.data.f.twice.map(cell => cell.value.toString()), ['ab']);
  assert.equal(found.data.f.text[0].value.toString(), 'ab');
  assert.equal(found.data.f.count[0].value, 41);
  await assert.rejects(row.increment('f:text'), {code: 9});
  await assert.rejects(row.increment('missing:q'), NOT_FOUND);
});

test('concurrent increments all count', async () => {
  const table = await used.newTable(['f']);
  await Promise.all(Array.from({length: 200}, () => table.row('r').increment('f:q')));
  assert.equal((await table.row('r').increment('f:q', 1))[0], 201);
});

test('a row is changed if a filter passes a cell of it', async () => {
  const table = await used.newTable(['f']);
  const row = table.row('r');
  const set = qualifier => ({
    method: 'insert',
    data: {f: {[qualifier]: {value: 'v', timestamp: 1000}}},
  });
  const filter = [{column: 'q'}];
  const both = {onMatch: [set('matched')], onNoMatch: [set('q')]};
  assert.equal((await row.filter(filter, both))[0], false);
  assert.equal((await row.filter(filter, both))[0], true);
  assert.equal((await row.filter([{column: 'x'}], {onMatch: [set('never')]}))[0], false);
  const remove = {method: 'delete', data: ['f:q']};
  assert.equal((await row.filter(filter, {onMatch: [remove]}))[0], true);
  const [found] = await row.get();
  assert.deepEqual(Object.keys(found.data.f), ['matched']);
  await assert.rejects(row.filter(filter, {}), INVALID);
});

test('of concurrent changes with a condition one happens', async () => {
  const table = await used.newTable(['f']);
  const change = {onNoMatch: [{method: 'insert', data: {f: {lock: 'mine'}}}]};
  const matched = await Promise.all(
    Array.from({length: 50}, () => table.row('r').filter([{column: 'lock'}], change))
  );
  assert.equal(matched.filter(([found]) => !found).length, 1);
});

test('rows are read by key, range, prefix and limit', async () => {
  const table = await used.newTable(['f']);
  const all = ['a', 'aa', 'ab', 'b', 'ba', 'c', 'd'];
  await table.insert(all.map(key => ({key, data: {f: {q: 'v'}}})));
  assert.deepEqual(await keys(table), all);
  assert.deepEqual(await keys(table, {limit: 3}), ['a', 'aa', 'ab']);
  assert.deepEqual(await keys(table, {keys: ['c', 'a', 'x', 'a']}), ['a', 'c']);
  assert.deepEqual(await keys(table, {start: 'ab', end: 'ba'}), ['ab', 'b', 'ba']);
  assert.deepEqual(await keys(table, {start: 'c'}), ['c', 'd']);
  assert.deepEqual(await keys(table, {end: 'aa'}), ['a', 'aa']);
  assert.deepEqual(await keys(table, {prefix: 'a'}), ['a', 'aa', 'ab']);
  assert.deepEqual(await keys(table, {prefixes: ['b', 'd']}), ['b', 'ba', 'd']);
  const open = (value, inclusive) => ({value, inclusive});
  const ranges = [
    {start: open('a', false), end: open('b', false)},
    {start: open('ab', true), end: open('c', true)}, // overlaps
  ];
  assert.deepEqual(await keys(table, {ranges}), ['aa', 'ab', 'b', 'ba', 'c']);
  assert.deepEqual(await keys(table, {ranges, keys: ['d'], limit: 6}), [
    'aa', 'ab', 'b', 'ba', 'c', 'd',
  ]);
  assert.deepEqual(await keys(table, {prefix: 'nothing'}), []);
  await assert.rejects(table.getRows({start: 'b', end: 'a'}), INVALID);
  await assert.rejects(used.instance.table('missing').getRows(), NOT_FOUND);
});

// The class Table does not read in reverse.
test('rows are read in reverse', async () => {
  const table = await used.newTable(['f']);
  await table.insert(['a', 'b', 'c', 'd'].map(key => ({key, data: {f: {q: 'v'}}})));
  const raw = new RawClient(used.server.address, PROJECT, INSTANCE);
  const read = async request => {
    const rows = await raw.readRows({tableName: raw.table(table.id), reversed: true, ...request});
    return rows.map(row => row.key).join('');
  };
  assert.equal(await read({}), 'dcba');
  assert.equal(await read({rowsLimit: 2}), 'dc');
  const rowRanges = [{startKeyClosed: bytes('a'), endKeyOpen: bytes('c')}];
  assert.equal(await read({rows: {rowRanges}}), 'ba');
  assert.equal(await read({rows: {rowRanges, rowKeys: [bytes('d')]}}), 'dba');
  assert.equal(await read({filter: {rowKeyRegexFilter: bytes('[ad]')}}), 'da');
  await raw.close();
});

test('a stream that its reader ends early ends', async () => {
  const table = await used.newTable(['f']);
  await table.insert(Array.from({length: 500}, (_, i) => ({key: `r${i}`, data: {f: {q: 'v'}}})));
  const stream = table.createReadStream();
  const seen = [];
  await new Promise((resolve, reject) => {
    stream.on('error', reject).on('end', resolve);
    stream.on('data', row => {
      seen.push(row.id);
      if (seen.length === 10) stream.end();
    });
  });
  assert.equal(seen.length, 10);
  assert.equal((await table.getRows())[0].length, 500);
});

test('a value of several messages arrives in one piece', async () => {
  const table = await used.newTable(['f']);
  const value = Buffer.alloc(3_000_000);
  for (let i = 0; i < value.length; ++i) value[i] = (i * 31) & 255;
  await table.insert({key: 'r', data: {f: {q: {value, timestamp: 1000}, r: 'after'}}});
  const [row] = await table.row('r').get({decode: false});
  assert.ok(row.data.f.q[0].value.equals(value));
  assert.equal(row.data.f.r[0].value.toString(), 'after');
});

test('the variable of the emulator leads to the server as well', async () => {
  const table = await used.newTable(['f']);
  process.env.BIGTABLE_EMULATOR_HOST = used.server.address;
  const client = new Bigtable({projectId: PROJECT, metricsEnabled: false});
  delete process.env.BIGTABLE_EMULATOR_HOST;
  assert.deepEqual(await client.instance(INSTANCE).table(table.id).exists(), [true]);
  await client.close();
});

test('a server that is asked to end keeps what it acknowledged', async () => {
  const server = await Server.start({flags: ['--durability', 'sync']});
  let client = server.client();
  const [table] = await client.instance(INSTANCE).createTable('t', {families: ['f']});
  await table.insert({key: 'r', data: {f: {q: 'v'}}});
  await client.close();
  assert.deepEqual(await server.child.end('SIGTERM'), {code: 0, signal: null});
  await server.startAt(server.address);
  client = server.client();
  assert.deepEqual(await keys(client.instance(INSTANCE).table('t')), ['r']);
  await client.close();
  await server.stop();
});
