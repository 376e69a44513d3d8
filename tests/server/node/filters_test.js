// Every filter of the class Filter, with what it passes of one small table written down.
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {RawClient} = require('./support/raw');
const {INSTANCE, PROJECT, useServer} = require('./support/server');

const used = useServer({before, after}, prepare);
let table;

// The cells that the filter passes: "row family:qualifier@milliseconds=value[labels]", one after
// another.
async function read(filter) {
  const [rows] = await table.getRows({filter});
  return rows.flatMap(row =>
    Object.entries(row.data).flatMap(([family, columns]) =>
      Object.entries(columns).flatMap(([qualifier, versions]) =>
        versions.map(cell => {
          const labels = cell.labels.length === 0 ? '' : `[${cell.labels}]`;
          const time = Number(cell.timestamp) / 1000;
          return `${row.id} ${family}:${qualifier}@${time}=${cell.value}${labels}`;
        })
      )
    )
  );
}

const ALL = [
  'r1 f:a@2=new',
  'r1 f:a@1=old',
  'r1 f:b@3=blue',
  'r1 g:a@1=green',
  'r2 f:a@5=other',
  'r2 f:c@4=line\nbreak',
];

async function prepare() {
  table = await used.newTable(['f', 'g']);
  for (const cell of ALL) {
    const [, key, family, qualifier, time, value] = /^(\w+) (\w):(\w)@(\d)=([^]*)$/.exec(cell);
    const data = {[family]: {[qualifier]: {value, timestamp: Number(time) * 1000}}};
    await table.insert({key, data});
  }
}

const only = (...patterns) => ALL.filter(cell => patterns.some(pattern => cell.includes(pattern)));

// An end of a range that does not belong to it.
const without = value => ({value, inclusive: false});

const cases = {
  'no filter': [undefined, ALL],
  'all': [{all: true}, ALL],
  'none': [{all: false}, []],

  'a row': [{row: 'r1'}, only('r1')],
  'rows by expression': [{row: /r[2-9]/}, only('r2')],
  'rows by several expressions': [{row: ['r1', 'r3']}, only('r1')],
  'an expression matches the whole key': [{row: 'r'}, []],
  'cells of a row, limited': [{row: {cellLimit: 1}}, ['r1 f:a@2=new', 'r2 f:a@5=other']],
  'cells of a row, skipped': [{row: {cellOffset: 3}}, ['r1 g:a@1=green']],
  'a row, and a limit': [{row: {key: 'r1', cellLimit: 2}}, ['r1 f:a@2=new', 'r1 f:a@1=old']],

  'a family': [{family: 'g'}, only(' g:')],
  'families by expression': [{family: /[fg]/}, ALL],

  'a column': [{column: 'b'}, only(':b')],
  'columns by expression': [{column: /[bc]/}, only(':b', ':c')],
  'columns by several expressions': [{column: ['b', 'c']}, only(':b', ':c')],
  'the latest cell of a column': [
    {column: {cellLimit: 1}},
    ALL.filter(cell => !cell.includes('old')),
  ],
  'a column, and a limit': [{column: {name: 'a', cellLimit: 1}}, only('new', 'green', 'other')],
  'a range of columns': [
    {column: {family: 'f', start: 'b', end: 'c'}},
    only('f:b', 'f:c'),
  ],
  'a range of columns without its ends': [
    {column: {family: 'f', start: without('a'), end: without('c')}},
    only('f:b'),
  ],
  'a range of columns with a start': [{column: {family: 'f', start: 'b'}}, only('f:b', 'f:c')],
  'a range of columns with an end': [{column: {family: 'f', end: 'a'}}, only('f:a')],

  'a value': [{value: 'old'}, only('old')],
  'values by expression': [{value: /.*e.*/}, only('new', 'blue', 'green', 'other')],
  'a dot is no line break': [{value: /line.break/}, []],
  'any byte is a line break': [{value: 'line\\Cbreak'}, only('line')],
  'values by several expressions': [{value: ['old', 'new']}, only('old', 'new')],
  'a range of values': [{value: {start: 'green', end: 'new'}}, only('green', 'line', 'new')],
  'a range of values without its ends': [
    {value: {start: without('green'), end: without('new')}},
    only('line'),
  ],
  'values stripped': [{value: {strip: true}}, ALL.map(cell => cell.replace(/=[^]*/, '='))],

  'a range of times': [{time: {start: new Date(2), end: new Date(4)}}, only('@2', '@3')],
  'a range of times with a start': [{time: {start: new Date(4)}}, only('@4', '@5')],
  'a range of times with an end': [{time: {end: new Date(2)}}, only('@1')],

  'a label': [{label: 'seen'}, ALL.map(cell => `${cell}[seen]`)],

  'a chain': [[{family: 'f'}, {column: 'a'}, {row: {cellLimit: 1}}], only('new', 'other')],
  'an interleave': [
    {interleave: [[{column: 'b'}], [{value: 'green'}]]},
    only('blue', 'green'),
  ],
  'an interleave with what both pass': [
    {interleave: [[{column: 'b'}, {label: 'one'}], [{value: 'blue'}]]},
    ['r1 f:b@3=blue[one]', 'r1 f:b@3=blue'],
  ],
  'a condition': [
    {condition: {test: [{family: 'g'}], pass: [{column: 'b'}], fail: [{column: 'c'}]}},
    only(':b', ':c'),
  ],
  'a condition without an else': [
    {condition: {test: [{family: 'g'}], pass: [{all: true}], fail: [{all: false}]}},
    only('r1'),
  ],
  'a sink': [
    [
      {interleave: [[{column: 'b'}], [{value: 'green'}, {label: 'sunk'}, {sink: true}]]},
      {column: 'x'},
    ],
    ['r1 g:a@1=green[sunk]'],
  ],
};

for (const [name, [filter, expected]] of Object.entries(cases)) {
  test(name, async () => {
    const cells = await read(filter);
    // The order of cells of one column and time is not specified.
    assert.deepEqual([...cells].sort(), [...expected].sort());
    if (!name.startsWith('an interleave with')) assert.deepEqual(cells, expected);
  });
}

test('a sample has some of many rows, and a larger one contains it', async () => {
  const many = await used.newTable(['f']);
  const keys = Array.from({length: 1000}, (_, i) => `row-${i}`);
  await many.insert(keys.map(key => ({key, data: {f: {q: 'v'}}})));
  const sample = async probability => {
    const [rows] = await many.getRows({filter: {row: {sample: probability}}});
    return rows.map(row => row.id);
  };
  const tenth = await sample(0.1);
  const half = await sample(0.5);
  assert.ok(tenth.length > 50 && tenth.length < 150, String(tenth.length));
  assert.ok(half.length > 400 && half.length < 600, String(half.length));
  assert.ok(tenth.every(key => half.includes(key)));
});

test('a family that is not there is not found, unless an expression stands for it', async () => {
  await assert.rejects(table.getRows({filter: {family: 'x'}}), {code: 5});
  await assert.rejects(table.getRows({filter: {column: {family: 'x', start: 'a'}}}), {code: 5});
  assert.deepEqual(await read({family: /x.*/}), []);
});

test('filters that are not valid are refused, with the name of what is wrong', async () => {
  const bad = [
    [{column: '('}, /column_qualifier_regex_filter/],
    [{family: 'a:b'}, /colon/],
    [{label: 'Capital'}, /apply_label_transformer/],
    [{label: 'more-than-15-ch'.repeat(2)}, /apply_label_transformer/],
    [{row: {cellLimit: 0}}, /cells_per_row_limit_filter/],
    [{row: {cellOffset: -1}}, /cells_per_row_offset_filter/],
    [{column: {cellLimit: 0}}, /cells_per_column_limit_filter/],
    [[{label: 'a'}, {label: 'b'}], /chain/],
    [{value: {start: 'b', end: 'a'}}, /value_range_filter/],
    [{time: {start: new Date(2), end: new Date(1)}}, /timestamp_range_filter/],
    [{value: 'x'.repeat(21_000)}, /20480 bytes/],
    [{sink: false}, /sink/],
  ];
  for (const [filter, message] of bad) {
    await assert.rejects(table.getRows({filter}), error => {
      assert.equal(error.code, 3, error.message);
      assert.match(error.message, message);
      return true;
    });
  }
});

test('filters may be nested twenty deep, and no deeper', async () => {
  const raw = new RawClient(used.server.address, PROJECT, INSTANCE);
  const nested = depth =>
    depth === 0
      ? {passAllFilter: true}
      : {chain: {filters: [{passAllFilter: true}, nested(depth - 1)]}};
  const tableName = raw.table(table.id);
  assert.equal((await raw.readRows({tableName, filter: nested(20)})).length, 2);
  await assert.rejects(raw.readRows({tableName, filter: nested(21)}), {code: 3});
  await raw.close();
});
