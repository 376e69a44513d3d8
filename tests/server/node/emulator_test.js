// The same random sequences of calls to bigtable-server and to Google's emulator, the answers
// compared: rows and error codes, not the texts of messages.
//
//   BIGTABLE_NODE_SEQUENCES  how many sequences, each of 24 calls (150)
//   BIGTABLE_NODE_SEED       the seed of the first (1); the others follow
//   BIGTABLE_NODE_FAILURES   after how many that differ to stop (1)
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {inspect} = require('node:util');
const {findEmulator, startEmulator} = require('./support/emulator');
const {FAMILIES, Generator, TABLE} = require('./support/generate');
const {Random} = require('./support/random');
const {RawClient, text} = require('./support/raw');
const {Server} = require('./support/server');

const SEQUENCES = Number(process.env.BIGTABLE_NODE_SEQUENCES ?? 150);
const FIRST_SEED = Number(process.env.BIGTABLE_NODE_SEED ?? 1);
const CALLS = 24; // of a sequence
const AT_ONCE = 6;

const program = findEmulator();
const skip =
  program === null && "Google's emulator (google-cloud-cli-bigtable-emulator) is not installed";

let server;
let emulator;
let ours;
let theirs;

before(async () => {
  if (skip) return;
  server = await Server.start();
  emulator = await startEmulator(program);
  emulator.ended.then(({signal}) => {
    if (signal !== 'SIGKILL') console.error(`the emulator has crashed: ${emulator.errors}`);
  });
  ours = new RawClient(server.address, 'local', 'local');
  theirs = new RawClient(emulator.address, 'local', 'local');
});

after(async () => {
  if (skip) return;
  await Promise.all([ours?.close(), theirs?.close()]);
  emulator?.end('SIGKILL');
  await server?.stop();
});

// Cells of one column and timestamp may be in any order (Interleave in data.proto), and so may
// families.
function canonicalRow(row) {
  const cells = row.cells.map(cell => ({...cell, timestamp: canonicalTime(cell.timestamp)}));
  const order = cell => [
    cell.family,
    cell.qualifier,
    String(1e15 - cell.timestamp).padStart(16, '0'),
    cell.value,
    cell.labels.join(),
  ];
  const compare = (a, b) => {
    const [x, y] = [order(a), order(b)];
    for (let i = 0; i < x.length; ++i) {
      if (x[i] !== y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
  };
  return {key: row.key, cells: cells.sort(compare)};
}

// The servers' clocks differ: their times are all the same here.
function canonicalTime(micros) {
  return Number(micros) > 1e9 ? 1e9 : Number(micros);
}

function canonicalFamilies(families) {
  return families
    .flatMap(family =>
      family.columns.flatMap(column =>
        column.cells.map(cell =>
          [
            family.name,
            text(column.qualifier),
            canonicalTime(cell.timestampMicros),
            text(cell.value),
          ]
        )
      )
    )
    .sort();
}

// A call of each kind: makes the request, sends it, and returns what is compared of the answer.
const CALL_KINDS = {
  readRows: async (client, tableName, request) =>
    (await client.readRows({tableName, ...request})).map(canonicalRow),
  mutateRow: async (client, tableName, request) => {
    await client.call('mutateRow', {tableName, ...request});
    return 'done';
  },
  mutateRows: async (client, tableName, request) => {
    const messages = await client.call('mutateRows', {tableName, ...request});
    const entries = messages.flatMap(message => message.entries);
    return entries
      .sort((a, b) => Number(a.index) - Number(b.index))
      .map(entry => [Number(entry.index), entry.status?.code ?? 0]);
  },
  checkAndMutateRow: async (client, tableName, request) => {
    const [answer] = await client.call('checkAndMutateRow', {tableName, ...request});
    return answer.predicateMatched;
  },
  readModifyWriteRow: async (client, tableName, request) => {
    const [answer] = await client.call('readModifyWriteRow', {tableName, ...request});
    return [text(answer.row.key), canonicalFamilies(answer.row.families)];
  },
  dropRowRange: async (client, name, request) => {
    await callTables(client, 'dropRowRange', {name, ...request});
    return 'done';
  },
  modifyColumnFamilies: async (client, name, request) => {
    const [table] = await callTables(client, 'modifyColumnFamilies', {name, ...request});
    return Object.keys(table.columnFamilies).sort();
  },
};

function nextCall(generator) {
  const method = generator.random.choose(
    8, () => 'readRows',
    7, () => 'mutateRow',
    0.5, () => 'badMutateRow',
    3, () => 'mutateRows',
    3, () => 'checkAndMutateRow',
    2, () => 'readModifyWriteRow',
    0.4, () => 'dropRowRange',
    0.6, () => 'modifyColumnFamilies'
  );
  const request = generator.request(method);
  return {method: method.replace('badM', 'm'), request, codes: generator.codes};
}

// The emulator sometimes does not answer a call, with which a sequence is over.
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
class EmulatorFails extends Error {}
function failureOf(client, error) {
  const isFailure = client === theirs && [DEADLINE_EXCEEDED, UNAVAILABLE].includes(error.code);
  return isFailure ? new EmulatorFails(error.message) : error;
}

async function callTables(client, method, request) {
  try {
    return await client.tables[method](request, {retry: null, timeout: 20_000});
  } catch (error) {
    throw failureOf(client, error);
  }
}

async function answerOf(client, table, {method, request}) {
  try {
    return {answer: await CALL_KINDS[method](client, client.table(table), request)};
  } catch (error) {
    const failure = failureOf(client, error);
    if (typeof failure.code !== 'number') throw failure; // of the test itself, or the emulator
    return {code: failure.code, message: failure.details};
  }
}

// Two answers of the servers' clocks in one column must not be in one millisecond at one of them
// only.
const tick = () => new Promise(resolve => setTimeout(resolve, 2));

async function runSequence(seed) {
  const table = `sequence-${seed}`;
  for (const client of [ours, theirs]) {
    const request = {parent: client.instance, tableId: table, table: TABLE};
    await callTables(client, 'createTable', request);
  }
  await runCalls(seed, table, new Generator(new Random(seed)));
  for (const client of [ours, theirs]) {
    await callTables(client, 'deleteTable', {name: client.table(table)});
  }
}

async function runCalls(seed, table, generator) {
  let before = {answer: []};
  for (let i = 0; i < CALLS; ++i) {
    const call = nextCall(generator);
    const answers = [await answerOf(ours, table, call)];
    if (call.codes) {
      // The emulator takes some of these, and one ends it.
      answers.push({code: call.codes[0]});
    } else {
      answers.push(await answerOf(theirs, table, call));
    }
    compare(seed, i, call, answers, before);
    if (call.method === 'readRows') continue;
    if (answers[0].code) {
      const after = await answerOf(ours, table, EVERYTHING);
      assert.deepEqual(after, before, `seed ${seed}, call ${i} was refused and changed something`);
    }
    if (call.method === 'modifyColumnFamilies' && answers[0].answer) {
      generator.families = answers[0].answer.filter(family => FAMILIES.includes(family));
    }
    if (call.method === 'readModifyWriteRow') {
      await tick();
      // The emulator keeps what the rules before the one that fails have done.
      if (answers[0].code) await deleteRow(table, call.request.rowKey);
    }
    const states = [];
    for (const client of [ours, theirs]) states.push(await answerOf(client, table, EVERYTHING));
    before = states[0];
    compare(seed, i, {...call, method: `${call.method}, then reading it all,`}, states);
  }
}

const EVERYTHING = {method: 'readRows', request: {}};

async function deleteRow(table, rowKey) {
  for (const client of [ours, theirs]) {
    const request = {rowKey, mutations: [{deleteFromRow: {}}]};
    await answerOf(client, table, {method: 'mutateRow', request});
  }
}

// Where the emulator has UNKNOWN for what is wrong with a request, and INTERNAL in an entry's
// status, whatever is wrong: docs/server.md.
const UNKNOWN = 2;
const INTERNAL = 13;
function withKnownCode(our, their) {
  if ([3, 5, 9].includes(our.code) && their.code === UNKNOWN) return our;
  if (!Array.isArray(our.answer?.[0]) || our.answer.length !== their.answer?.length) return their;
  const entries = their.answer.map(([index, code], i) => {
    const ourCode = our.answer[i][1];
    return [index, code === INTERNAL && ourCode !== 0 ? ourCode : code];
  });
  return {answer: entries};
}

function compare(seed, index, call, [our, their], before) {
  const left = {...our, message: undefined};
  const right = {...their, message: undefined};
  if (call.method === 'mutateRows' || left.code) Object.assign(right, withKnownCode(left, right));
  try {
    assert.deepEqual(left, right);
  } catch {
    const show = value => inspect(value, {depth: null, breakLength: Infinity});
    if (Array.isArray(our.answer) && Array.isArray(their.answer)) {
      const [ourRows, theirRows] = [our.answer.map(show), their.answer.map(show)];
      our = {answer: our.answer.filter((row, i) => !theirRows.includes(ourRows[i]))};
      their = {answer: their.answer.filter((row, i) => !ourRows.includes(theirRows[i]))};
      const keys = [...our.answer, ...their.answer].map(row => row.key);
      if (before) before = {answer: before.answer.filter(row => keys.includes(row.key))};
    }
    throw new Error(
      `seed ${seed}, call ${index}: ${call.method} ${readable(call.request)}\n` +
        `ours: ${show(our)}\ntheirs: ${show(their)}` +
        (before ? `\nbefore: ${show(before)}` : '')
    );
  }
}

// With bytes as text.
function readable(request) {
  const clone = JSON.parse(JSON.stringify(request), (key, value) =>
    value?.type === 'Buffer' ? text(value.data) : value
  );
  return JSON.stringify(clone);
}

test(`${SEQUENCES} random sequences`, {skip}, async t => {
  let next = FIRST_SEED;
  const failures = [];
  let abandoned = 0;
  const most = Number(process.env.BIGTABLE_NODE_FAILURES ?? 1);
  const work = async () => {
    while (next < FIRST_SEED + SEQUENCES && failures.length < most) {
      await runSequence(next++).catch(error => {
        if (error instanceof EmulatorFails) ++abandoned;
        else failures.push(error.stack);
      });
    }
  };
  await Promise.all(Array.from({length: AT_ONCE}, work));
  assert.equal(failures.length, 0, failures.join('\n\n'));
  t.diagnostic(`${abandoned} sequences were abandoned: the emulator did not answer`);
  assert.ok(abandoned <= SEQUENCES / 10, `${abandoned} sequences were abandoned`);
});
