// Many rows at a time, and readers that are slower than the server.
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {setTimeout: sleep} = require('node:timers/promises');
const {RawClient, bytes} = require('./support/raw');
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
    value: Buffer.alloc(300, 'x'),
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
  // The streams that stopped have 600 MB to read.
  assert.ok(most > 0 && most - least < 60 * MB, `${least} bytes before, ${most} at most`);
});

// A stream of which one row was read, and the next one is not asked for.
async function startAndStop() {
  const stream = table.createReadStream();
  stream.on('error', () => {});
  await new Promise(resolve => stream.once('data', resolve));
  stream.pause();
  return stream;
}
