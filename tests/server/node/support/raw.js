// The generated gRPC clients of the package: a request is exactly what the test says, and nothing is
// tried again.
'use strict';

const assert = require('node:assert/strict');
const {v2} = require('@google-cloud/bigtable');
const grpc = require('@grpc/grpc-js');

class RawClient {
  constructor(address, project, instance) {
    const [servicePath, port] = address.split(':');
    const options = {servicePath, port: Number(port), sslCreds: grpc.credentials.createInsecure()};
    this.data = new v2.BigtableClient(options);
    this.tables = new v2.BigtableTableAdminClient(options);
    this.instance = `projects/${project}/instances/${instance}`;
  }

  close() {
    return Promise.all([this.data.close(), this.tables.close()]);
  }

  table(id) {
    return `${this.instance}/tables/${id}`;
  }

  // A call of the data API: the messages of the answer.
  async call(method, request) {
    const options = {retry: null, timeout: 10_000, otherArgs: {headers: {'bigtable-features': FEATURES}}};
    if (!STREAMS.has(method)) return [(await this.data[method](request, options))[0]];
    const stream = this.data[method](request, {
      ...options,
      retryRequestOptions: {retries: 0, noResponseRetries: 0, shouldRetryFn: () => false},
    });
    const messages = [];
    await new Promise((resolve, reject) => {
      stream.on('data', message => messages.push(message));
      stream.on('error', reject);
      stream.on('end', resolve);
    });
    return messages;
  }

  async readRows(request) {
    return assembleRows(await this.call('readRows', request));
  }
}

// A FeatureFlags message with reverse_scans, without which the emulator refuses them.
const FEATURES = Buffer.from([0x08, 0x01]).toString('base64');
const STREAMS = new Set([
  'readRows',
  'mutateRows',
  'sampleRowKeys',
  'generateInitialChangeStreamPartitions',
  'readChangeStream',
]);

// The rows of ReadRowsResponses: [{key, cells: [{family, qualifier, timestamp, value, labels}]}],
// with bytes as latin1. Checks what the comments of CellChunk in bigtable.proto require.
function assembleRows(messages) {
  const rows = [];
  let row = null;
  let cell = null; // of which more chunks are to come
  for (const chunk of messages.flatMap(message => message.chunks)) {
    const key = text(chunk.rowKey);
    if (chunk.resetRow) {
      assert.ok(row, 'a reset outside of a row');
      row = cell = null;
      continue;
    }
    if (row === null) {
      assert.notEqual(key, '', 'a row begins with its key');
      assert.ok(chunk.familyName && chunk.qualifier, 'and with a column');
      row = {key, cells: []};
    } else {
      assert.ok(key === '' || key === row.key, 'a row has one key');
    }
    if (cell === null) {
      const last = row.cells.at(-1);
      assert.ok(!chunk.familyName || chunk.qualifier, 'a family comes with a qualifier');
      cell = {
        family: chunk.familyName ? chunk.familyName.value : last.family,
        qualifier: chunk.qualifier ? text(chunk.qualifier.value) : last.qualifier,
        timestamp: Number(chunk.timestampMicros),
        value: '',
        labels: [...chunk.labels],
      };
    } else {
      assert.ok(!chunk.familyName && !chunk.qualifier, 'the rest of a cell has no column');
    }
    cell.value += text(chunk.value);
    if (chunk.valueSize > 0) {
      assert.ok(!chunk.commitRow, 'no commit within a cell');
    } else {
      row.cells.push(cell);
      cell = null;
    }
    if (chunk.commitRow) {
      rows.push(row);
      row = null;
    }
  }
  assert.equal(row, null, 'the last row is complete');
  return rows;
}

function text(bytes) {
  return Buffer.from(bytes ?? '').toString('latin1');
}

// Bytes of latin1 text, as requests have them.
function bytes(latin1) {
  return Buffer.from(latin1, 'latin1');
}

module.exports = {RawClient, bytes, text};
