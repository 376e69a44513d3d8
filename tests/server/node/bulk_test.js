// Many rows at a time, and readers that are slower than the server.
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {setTimeout: sleep} = require('node:timers/promises');
const {RawClient, bytes, text} = require('./support/raw');
const {INSTANCE, PROJECT, useServer} = require('./support/server');

let table;
let raw;
const used = useServer({before, after}, async () => {
  table = await used.newTable(['f']);
  raw = new RawClient(used.server.address, PROJECT, INSTANCE);
});
after(() => raw?.close());

const ROWS = 100_000;
const MB = 1 << 20;

const keyOf = i => `row-${String(i).padStart(6, '0')}`;

// By the generated client: the class Table needs minutes for as many entries.
test('one call takes 100,000 mutations, and no more', async () => {
  const setCell = {
    familyName: 'f',
    columnQualifier: bytes('q'),
    timestampMicros: 1000,
    value: Buffer.alloc(600, 'x'),
  };
  const entry = i => ({rowKey: bytes(keyOf(i)), mutations: [{setCell}]});
  const entries = Array.from({length: ROWS}, (_, i) => entry(i));
  const tableName = raw.table(table.id);
  const messages = await raw.call('mutateRows', {tableName, entries});
  const answers = messages.flatMap(message => message.entries);
  assert.equal(answers.length, ROWS);
  assert.ok(answers.every(answer => !answer.status?.code));
  const tooMany = {tableName, entries: [...entries, entry(ROWS)]};
  await assert.rejects(raw.call('mutateRows', tooMany), {code: 3});
});

test('slow readers do not make the server hold what they have not read', async t => {
  const least = used.server.memory();
  let most = 0;
  const sample = setInterval(() => (most = Math.max(most, used.server.memory())), 20);
  const stopped = await Promise.all(Array.from({length: 20}, startAndStop));
  let count = 0;
  for await (const row of table.createReadStream()) {
    assert.equal(row.id, keyOf(count++));
    if (count % 10_000 === 0) await sleep(50);
  }
  clearInterval(sample);
  assert.equal(count, ROWS);
  stopped.forEach(stream => stream.end());
  t.diagnostic(`${least} bytes before, ${most} at most`);
  // The streams that stopped have 1.2 GB to read.
  // A sanitizer has memory of its own.
  const bound = process.env.BIGTABLE_SANITIZED ? Infinity : 60 * MB;
  assert.ok(most > 0 && most - least < bound, `${least} bytes before, ${most} at most`);
});

// For a second the server keeps its place in the table, then only the key. The rows are read as they
// are then.
test('a stream goes on after its reader paused for long', async () => {
  const limit = 95_000;
  const read = async (options, change) => {
    const request = {tableName: raw.table(table.id), ...options};
    const keys = [];
    let pauses = 0;
    for await (const message of raw.data.readRows(request)) {
      for (const chunk of message.chunks) if (chunk.rowKey.length) keys.push(text(chunk.rowKey));
      if (pauses < 2 && keys.length > 1_000) {
        ++pauses;
        await sleep(1_500);
        if (change) await change();
      }
    }
    return keys;
  };
  const forward = Array.from({length: limit}, (_, i) => keyOf(i));
  const backward = Array.from({length: limit}, (_, i) => keyOf(ROWS - 1 - i));
  const [found, reversed] = await Promise.all([
    read({rowsLimit: limit}),
    read({rowsLimit: limit, reversed: true}),
  ]);
  assert.deepEqual(found, forward);
  assert.deepEqual(reversed, backward);
  // Rows that are deleted before the stream is there.
  const rest = await read({}, () => table.deleteRows('row-09'));
  const without = Array.from({length: ROWS}, (_, i) => keyOf(i)).filter(key => !/^row-09/.test(key));
  assert.deepEqual(rest, without);
});

// A stream of which one row was read, and the next one is not asked for.
async function startAndStop() {
  const stream = table.createReadStream();
  stream.on('error', () => {});
  await new Promise(resolve => stream.once('data', resolve));
  stream.pause();
  return stream;
}
