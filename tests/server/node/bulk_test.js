// Many rows at a time, and readers that are slower than the server.
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {setTimeout: sleep} = require('node:timers/promises');
const {RawClient, bytes} = require('./support/raw');
const {INSTANCE, PROJECT, useServer} = require('./support/server');

const used = useServer({before, after});
const ROWS = 100_000;
const MB = 1 << 20;

const keyOf = i => `row-${String(i).padStart(6, '0')}`;

// By the generated client: the class Table needs minutes for as many entries.
function entry(i, value) {
  const setCell = {
    familyName: 'f',
    columnQualifier: bytes('q'),
    timestampMicros: 1000,
    value: bytes(value),
  };
  return {rowKey: bytes(keyOf(i)), mutations: [{setCell}]};
}

const entries = (begin, end, value) =>
  Array.from({length: end - begin}, (_, i) => entry(begin + i, value));

test('one call takes 100,000 mutations, and no more', async () => {
  const raw = new RawClient(used.server.address, PROJECT, INSTANCE);
  const table = await used.newTable(['f']);
  const tableName = raw.table(table.id);
  const all = entries(0, ROWS, 'value');
  const messages = await raw.call('mutateRows', {tableName, entries: all});
  const answers = messages.flatMap(message => message.entries);
  assert.equal(answers.length, ROWS);
  assert.ok(answers.every(answer => !answer.status?.code));
  let count = 0;
  for await (const row of table.createReadStream({filter: {value: {strip: true}}})) {
    assert.equal(row.id, keyOf(count++));
  }
  assert.equal(count, ROWS);
  const tooMany = {tableName, entries: [...all, entry(ROWS, '')]};
  await assert.rejects(raw.call('mutateRows', tooMany), {code: 3});
  await raw.close();
});

test('slow readers do not make the server hold what they have not read', async t => {
  const table = await used.newTable(['f']);
  const raw = new RawClient(used.server.address, PROJECT, INSTANCE);
  const value = 'x'.repeat(1000);
  for (let i = 0; i < ROWS; i += 10_000) {
    const request = {tableName: raw.table(table.id), entries: entries(i, i + 10_000, value)};
    await raw.call('mutateRows', request);
  }
  await raw.close();
  const least = used.server.memory();
  let most = 0;
  const sample = setInterval(() => (most = Math.max(most, used.server.memory())), 20);
  const readSlowly = async () => {
    let count = 0;
    for await (const row of table.createReadStream()) {
      assert.equal(row.id, keyOf(count++));
      if (count % 10_000 === 0) await sleep(100);
    }
    return count;
  };
  // Together they have not read more than a gigabyte.
  const stopped = await Promise.all(Array.from({length: 12}, () => startAndStop(table)));
  const count = await readSlowly();
  clearInterval(sample);
  assert.equal(count, ROWS);
  stopped.forEach(stream => stream.end());
  t.diagnostic(`${least} bytes before, ${most} at most`);
  assert.ok(most > 0 && most - least < 100 * MB, `${least} bytes before, ${most} at most`);
});

// A stream of which one row was read, and the next one is not asked for.
async function startAndStop(table) {
  const stream = table.createReadStream();
  stream.on('error', () => {});
  await new Promise(resolve => stream.once('data', resolve));
  stream.pause();
  return stream;
}
