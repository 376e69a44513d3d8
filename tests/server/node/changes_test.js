// Change streams, by the generated client: the classes have none.
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {RawClient, bytes, text} = require('./support/raw');
const {INSTANCE, PROJECT, useServer} = require('./support/server');

let raw;
const used = useServer({before, after}, async () => {
  raw = new RawClient(used.server.address, PROJECT, INSTANCE);
});
after(() => raw.close());

let tables = 0;

// The name of a new table with a change stream.
async function newTable(splits = []) {
  const tableId = `changes-${++tables}`;
  await raw.tables.createTable({
    parent: raw.instance,
    tableId,
    table: {
      columnFamilies: {f: {}, g: {}},
      changeStreamConfig: {retentionPeriod: {seconds: 86400}},
    },
    initialSplits: splits.map(key => ({key: bytes(key)})),
  });
  return raw.table(tableId);
}

function write(tableName, row, ...mutations) {
  return raw.call('mutateRow', {tableName, rowKey: bytes(row), mutations});
}

function set(qualifier, value) {
  return {
    setCell: {
      familyName: 'f',
      columnQualifier: bytes(qualifier),
      timestampMicros: 1000,
      value: bytes(value),
    },
  };
}

// An open stream, whose messages are taken one by one.
class Changes {
  constructor(request) {
    this.stream = raw.data.readChangeStream(request, {
      retry: null,
      timeout: 60_000,
      retryRequestOptions: {retries: 0, noResponseRetries: 0, shouldRetryFn: () => false},
    });
    this.messages = this.stream[Symbol.asyncIterator]();
  }

  async next() {
    const {value, done} = await this.messages.next();
    return done ? null : value;
  }

  // The next message that is no heartbeat.
  async record() {
    for (;;) {
      const message = await this.next();
      if (message?.streamRecord !== 'heartbeat') return message;
    }
  }

  async row() {
    const message = await this.record();
    assert.equal(message.streamRecord, 'dataChange', JSON.stringify(message));
    return text(message.dataChange.rowKey);
  }

  end() {
    this.stream.on('error', () => {});
    this.stream.cancel();
  }
}

const FROM_THE_BEGINNING = {startTime: {seconds: 0}};
const tokens = (...list) => ({continuationTokens: {tokens: list}});
const rangeOf = partition => [text(partition.rowRange.startKeyClosed), text(partition.rowRange.endKeyOpen)];

test('a table has a partition for each tablet', async () => {
  const tableName = await newTable(['k', 'p']);
  const partitions = await raw.call('generateInitialChangeStreamPartitions', {tableName});
  assert.deepEqual(partitions.map(({partition}) => rangeOf(partition)), [['', 'k'], ['k', 'p'], ['p', '']]);
  // Each is read by itself.
  for (const row of ['a', 'l', 'z']) await write(tableName, row, set('q', row));
  const rows = [];
  for (const {partition} of partitions) {
    const changes = new Changes({tableName, partition, ...FROM_THE_BEGINNING});
    rows.push(await changes.row());
    changes.end();
  }
  assert.deepEqual(rows, ['a', 'l', 'z']);
});

test('a change has the mutation, and a token to go on', async () => {
  const tableName = await newTable();
  await write(tableName, 'a', set('q', 'v'), {deleteFromFamily: {familyName: 'g'}});
  await write(tableName, 'b', {deleteFromRow: {}});
  await write(tableName, 'c', set('q', 'w'));
  const changes = new Changes({tableName, ...FROM_THE_BEGINNING});
  const {dataChange} = await changes.record();
  assert.equal(dataChange.type, 'USER');
  assert.ok(dataChange.sourceClusterId);
  assert.ok(Math.abs(Number(dataChange.commitTimestamp.seconds) - Date.now() / 1000) < 100);
  assert.ok(dataChange.done);
  assert.deepEqual(dataChange.chunks.map(({mutation}) => mutation.mutation), ['setCell', 'deleteFromFamily']);
  assert.equal(text(dataChange.chunks[0].mutation.setCell.value), 'v');
  const row = await changes.record();
  assert.deepEqual(
    row.dataChange.chunks.map(({mutation}) => mutation.deleteFromFamily.familyName),
    ['f', 'g']
  );
  changes.end();
  const partition = {rowRange: {}};
  const next = new Changes({tableName, partition, ...tokens({partition, token: dataChange.token})});
  assert.deepEqual([await next.row(), await next.row()], ['b', 'c']);
  await write(tableName, 'd', set('q', 'later'));
  assert.equal(await next.row(), 'd');
  next.end();
});

test('a large value comes in chunks', async () => {
  const tableName = await newTable();
  const value = 'abcdefg'.repeat(500_000);
  await write(tableName, 'r', set('q', value));
  const changes = new Changes({tableName, ...FROM_THE_BEGINNING});
  let received = '';
  for (let types = []; ; ) {
    const {dataChange} = await changes.record();
    types.push(dataChange.type);
    for (const {chunkInfo, mutation} of dataChange.chunks) {
      assert.equal(chunkInfo.chunkedValueSize, value.length);
      assert.equal(chunkInfo.chunkedValueOffset, received.length);
      received += text(mutation.setCell.value);
      assert.equal(chunkInfo.lastChunk, received.length === value.length);
    }
    if (!dataChange.done) continue;
    assert.deepEqual(types, ['USER', 'CONTINUATION', 'CONTINUATION', 'CONTINUATION']);
    break;
  }
  assert.ok(received === value);
  changes.end();
});

test('a heartbeat comes when there are no changes', async () => {
  const tableName = await newTable();
  const began = Date.now();
  const changes = new Changes({tableName, heartbeatDuration: {seconds: 1}});
  const {heartbeat} = await changes.next();
  assert.ok(Date.now() - began >= 900);
  assert.ok(Number(heartbeat.estimatedLowWatermark.seconds) >= Math.floor(began / 1000) - 1);
  await write(tableName, 'a', set('q', 'v'));
  assert.equal(await changes.row(), 'a');
  changes.end();
  const {partition} = heartbeat.continuationToken;
  const again = new Changes({tableName, partition, ...tokens(heartbeat.continuationToken)});
  assert.equal(await again.row(), 'a');
  again.end();
});

test('the end time ends a stream', async () => {
  const tableName = await newTable();
  await write(tableName, 'a', set('q', 'v'));
  const endTime = {seconds: Math.floor(Date.now() / 1000) + 1};
  const changes = new Changes({tableName, ...FROM_THE_BEGINNING, endTime});
  assert.equal(await changes.row(), 'a');
  const {closeStream} = await changes.record();
  assert.equal(closeStream.status.code, 0);
  assert.deepEqual(closeStream.newPartitions, []);
  assert.equal(await changes.next(), null);
});

// The whole table is not a partition of a table of two tablets, so this is what a split looks like.
test('a partition that is none is closed, and its successors go on', async () => {
  const tableName = await newTable(['m']);
  await write(tableName, 'a', set('q', 'v'));
  await write(tableName, 'z', set('q', 'v'));
  const changes = new Changes({tableName, ...FROM_THE_BEGINNING});
  const {closeStream} = await changes.record();
  assert.equal(await changes.next(), null);
  assert.equal(closeStream.status.code, 11);
  assert.deepEqual(closeStream.newPartitions.map(rangeOf), [['', 'm'], ['m', '']]);
  const rows = [];
  for (const token of closeStream.continuationTokens) {
    const successor = new Changes({tableName, partition: token.partition, ...tokens(token)});
    rows.push(await successor.row());
    successor.end();
  }
  assert.deepEqual(rows, ['a', 'z']);
});

test('a stream goes on after the server was killed', async () => {
  const tableName = await newTable();
  await write(tableName, 'a', set('q', 'v'));
  const changes = new Changes({tableName, ...FROM_THE_BEGINNING});
  const {dataChange} = await changes.record();
  const broken = assert.rejects(changes.next());
  await used.server.killAndStart();
  await broken;
  await write(tableName, 'b', set('q', 'v'));
  const partition = {rowRange: {}};
  const next = new Changes({tableName, partition, ...tokens({partition, token: dataChange.token})});
  assert.equal(await next.row(), 'b');
  next.end();
});

test('what is wrong is refused', async () => {
  const tableName = await newTable();
  const refused = (request, code) => assert.rejects(raw.call('readChangeStream', request), {code});
  await refused({tableName, heartbeatDuration: {seconds: 0}}, 3);
  await refused({tableName, ...tokens({partition: {rowRange: {}}, token: 'no token'})}, 3);
  await refused({tableName: raw.table('missing')}, 5);
  await raw.tables.updateTable({
    table: {name: tableName},
    updateMask: {paths: ['change_stream_config']},
  });
  await refused({tableName}, 9);
  await assert.rejects(raw.call('generateInitialChangeStreamPartitions', {tableName}), {code: 9});
});
