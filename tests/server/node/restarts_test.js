// The server is killed under load, and started again on the same address and directory. Clients go
// on, and nothing that was acknowledged is lost.
//
//   BIGTABLE_NODE_KILLS  how often the server is killed (5)
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {setTimeout: sleep} = require('node:timers/promises');
const {useServer} = require('./support/server');

const used = useServer({before, after});
const KILLS = Number(process.env.BIGTABLE_NODE_KILLS ?? 5);

const LIMIT = {timeout: 90_000}; // so that a test that waits for ever is named

const keyOf = i => `row-${String(i).padStart(6, '0')}`;
const entry = (key, value) => ({key, data: {f: {q: {value, timestamp: 1000}}}});

test('a stream goes on where it was', LIMIT, async () => {
  const rows = 10_000;
  const table = await used.newTable(['f']);
  await table.insert(Array.from({length: rows}, (_, i) => entry(keyOf(i), 'x'.repeat(200))));
  let count = 0;
  let restarted = 0;
  for await (const row of table.createReadStream()) {
    assert.equal(row.id, keyOf(count++));
    if (count === 2_000 || count === 5_000) {
      await used.server.killAndStart();
      ++restarted;
    }
  }
  assert.deepEqual([count, restarted], [rows, 2]);
});

test('writes that a client tries again are all applied', LIMIT, async () => {
  const table = await used.newTable(['f']);
  table.maxRetries = 12;
  let isDone = false;
  const restart = async () => {
    for (let i = 0; i < 2; ++i) {
      await sleep(100);
      assert.ok(!isDone, 'killed while writes are under way');
      await used.server.killAndStart();
    }
  };
  const write = async () => {
    for (let i = 0; i < 10_000; i += 100) {
      await table.insert(Array.from({length: 100}, (_, j) => entry(keyOf(i + j), 'v')));
    }
    isDone = true;
  };
  await Promise.all([write(), restart()]);
  const [rows] = await table.getRows();
  assert.equal(rows.length, 10_000);
});

test('a call that is not tried again fails as unavailable, and the next one does not', LIMIT, async () => {
  const table = await used.newTable(['f']);
  await used.server.kill();
  await assert.rejects(table.row('r').increment('f:q'), {code: 14});
  await used.server.startAt(used.server.address);
  table.maxRetries = 12;
  assert.deepEqual((await table.getRows())[0], []); // waits until the client is connected
  assert.equal((await table.row('r').increment('f:q'))[0], 1);
});

// What a table must have: of each row the values that are possible. A call that failed may have been
// applied or not.
class Expected {
  constructor() {
    this.rows = new Map(); // key -> [value or null, ...]
    this.acknowledged = 0;
  }

  // Calls `change`, which gives these rows `value`, or deletes them if it is null.
  async apply(keys, value, change) {
    const earlier = keys.map(key => this.rows.get(key) ?? [null]);
    keys.forEach((key, i) => this.rows.set(key, [...earlier[i], value]));
    await change();
    keys.forEach(key => this.rows.set(key, [value]));
    this.acknowledged += keys.length;
  }

  // Compares and takes over what was found.
  check(found, when) {
    for (const [key, values] of this.rows) {
      const value = found.get(key) ?? null;
      assert.ok(values.includes(value), `${when}: ${key} is ${value}, not one of ${values}`);
      this.rows.set(key, [value]);
    }
    for (const key of found.keys()) assert.ok(this.rows.has(key), `${when}: ${key} was never written`);
  }
}

// Writers of each kind, until the server is killed. Each has rows of its own.
const WRITERS = [
  async (table, expected, name) => {
    const key = name();
    await expected.apply([key], 'single', () => table.row(key).save(entry('', 'single').data));
  },
  async (table, expected, name) => {
    const keys = Array.from({length: 50}, name);
    await expected.apply(keys, 'batch', () => table.insert(keys.map(key => entry(key, 'batch'))));
  },
  async (table, expected, name) => {
    const key = name();
    const change = {onNoMatch: [{method: 'insert', data: entry('', 'checked').data}]};
    await expected.apply([key], 'checked', () => table.row(key).filter([{all: true}], change));
  },
  async (table, expected, name) => {
    const key = name();
    await expected.apply([key], 'kept', () => table.row(key).save(entry('', 'kept').data));
    await expected.apply([key], null, () => table.row(key).delete());
  },
];

async function writeUntilKilled(write, table, expected, name) {
  for (;;) {
    try {
      await write(table, expected, name);
    } catch (error) {
      const code = error.code ?? error.errors?.[0]?.code;
      // CANCELLED is the client's own, of a connection that was reset.
      assert.ok([1, 13, 14].includes(code), error.stack);
      return;
    }
  }
}

// Increments of one counter: {sure, possible}.
async function countUntilKilled(table, count) {
  for (;;) {
    ++count.possible;
    try {
      await table.row('counter').increment('counts:q');
    } catch (error) {
      assert.ok([1, 13, 14].includes(error.code), error.stack);
      return;
    }
    ++count.sure;
  }
}

async function rowsOf(table) {
  const found = new Map();
  for await (const row of table.createReadStream({filter: {family: 'f'}})) {
    found.set(row.id, row.data.f.q[0].value);
  }
  return found;
}

test(`${KILLS} kills under load lose nothing that was acknowledged`, {timeout: 3_600_000}, async t => {
  const {id} = await used.newTable(['f', 'counts']);
  const expected = new Expected();
  const count = {sure: 0, possible: 0};
  for (let kill = 1; kill <= KILLS; ++kill) {
    const client = used.server.client();
    const table = client.instance('local').table(id);
    table.maxRetries = 0;
    let next = 0;
    const writing = [...WRITERS, ...WRITERS].map((write, writer) =>
      writeUntilKilled(write, table, expected, () => `${kill}-${writer}-${next++}`)
    );
    writing.push(countUntilKilled(table, count));
    await sleep(100 + Math.random() * 500);
    await used.server.kill();
    await Promise.all(writing);
    await client.close();
    await used.server.startAt(used.server.address);

    const reader = used.server.client();
    const reading = reader.instance('local').table(id);
    expected.check(await rowsOf(reading), `after kill ${kill}`);
    const [counted] = await reading.row('counter').increment('counts:q', 1);
    assert.ok(
      counted > count.sure && counted <= count.possible + 1,
      `after kill ${kill}: ${counted - 1} of ${JSON.stringify(count)}`
    );
    count.sure = count.possible = counted;
    await reader.close();
  }
  assert.ok(expected.acknowledged > 100 * KILLS, `only ${expected.acknowledged} were acknowledged`);
  t.diagnostic(`${KILLS} kills, ${expected.acknowledged} changes of rows and ${count.sure} increments acknowledged`);
});
