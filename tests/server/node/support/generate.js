// Random requests over a tiny alphabet, so that they meet in the same cells. Requests are those of
// the generated client, without a table.
//
// Left out is what the API leaves open, so that two right servers may differ, and what docs/server.md
// says under "Differences from Google's emulator".
'use strict';

const {bytes, text} = require('./raw');

const KEYS = ['a', 'aa', 'ab', 'b', 'b\0', 'ba', 'c', '\xff', '\xff\xff', 'a\nb'];
const FAMILIES = ['f', 'g', 'h', 'z'];
const QUALIFIERS = ['', 'p', 'q', 'q\0', 'r', '\xff', 'q\nr'];
const VALUES = ['', 'v', 'w', 'vw', 'v\0', '\xff', 'v\nw', '\0\0\0\0\0\0\0\x05', 'longer value'];
const TIMES = [0, 1000, 2000, 3000, 5000];
const AGGREGATES = ['sum']; // the emulator's min and max keep the last value, whichever it is
const REGEXES = [
  'a', 'b', 'f', 'q', 'v', '', '.*', 'a.*', '.*b', '[a-f]', '(a|b).*', '(f|g)', 'q.?', '\\C*', 'v\\C*',
  '[^a]', 'p|q', '\\x00', '.+', 'v+w?', 'a\\C{1,2}', '(?i)V', 'f{1}', '^a', 'b$', '\\.', 'v.w',
];
const BAD_REGEXES = ['(', '[', '*', 'a**)', '\\8'];

class Generator {
  constructor(random) {
    this.random = random;
    this.codes = null; // with which the last request must be refused, if it must
    this.families = FAMILIES; // that the table has
  }

  family() {
    return this.random.pick(this.families);
  }

  aggregate() {
    return this.random.pick(AGGREGATES);
  }

  // The request of the method of this name.
  request(method) {
    this.codes = null;
    return this[method]();
  }

  refused(codes, make) {
    this.codes = codes;
    return make();
  }

  // ---- rows ----

  key() {
    return bytes(this.random.pick(KEYS));
  }

  rowRange() {
    const [low, high] = this.twoOf(KEYS);
    if (this.random.chance(0.1)) return {startKeyClosed: bytes(low), endKeyClosed: bytes(low)};
    const range = {};
    const start = this.random.pick(['none', 'Closed', 'Open']);
    if (start !== 'none') range[`startKey${start}`] = bytes(low);
    const end = this.random.pick(['none', 'Closed', 'Open']);
    if (end !== 'none') range[`endKey${end}`] = bytes(high);
    return range;
  }

  rowSet() {
    const r = this.random;
    return r.choose(
      2, () => ({}),
      2, () => ({rowKeys: r.list(1, 4, () => this.key())}),
      3, () => ({rowRanges: r.list(1, 3, () => this.rowRange())}),
      2, () => ({
        rowKeys: r.list(1, 3, () => this.key()),
        rowRanges: r.list(1, 2, () => this.rowRange()),
      })
    );
  }

  readRows() {
    const r = this.random;
    const request = {rows: this.rowSet()};
    if (r.chance(0.3)) request.rowsLimit = r.pick([1, 2, 3, 5]);
    if (r.chance(0.3)) request.reversed = true;
    if (r.chance(0.7)) request.filter = this.filter(3);
    if (r.chance(0.03)) request.filter = this.badFilter();
    if (r.chance(0.02)) {
      request.rows = this.refused([3], () => ({
        rowRanges: [{startKeyClosed: bytes('b'), endKeyOpen: bytes(r.pick(['a', 'b']))}],
      }));
    }
    return request;
  }

  badFilter() {
    const bad = this.random.pick([
      {cellsPerRowLimitFilter: 0},
      {cellsPerRowOffsetFilter: -1},
      {applyLabelTransformer: this.random.pick(['', 'L', 'abcdefghijklmnop', 'a_b'])},
      {valueRegexFilter: bytes(this.random.pick(BAD_REGEXES))},
      {rowKeyRegexFilter: bytes(this.random.pick(BAD_REGEXES))},
      {chain: {filters: [{passAllFilter: true}]}},
      {chain: {filters: [{applyLabelTransformer: 'l'}, {applyLabelTransformer: 'm'}]}},
    ]);
    return this.refused([3], () =>
      this.random.chance(0.5) ? bad : {interleave: {filters: [this.filter(1), bad]}}
    );
  }

  // ---- filters ----

  regex() {
    return this.random.pick(REGEXES);
  }

  // Not the name of a family that is not there.
  familyRegex() {
    const regex = this.regex();
    return /^(\w|\\.)$/.test(regex) ? this.family() : regex;
  }

  // A ColumnRange or ValueRange with something between its ends.
  range(name, choices) {
    const [low, high] = this.twoOf(choices);
    const range = {};
    const start = this.random.pick(['none', 'Closed', 'Open']);
    if (start !== 'none') range[`start${name}${start}`] = bytes(low);
    const end = this.random.pick(['none', 'Closed', 'Open']);
    if (end !== 'none') range[`end${name}${end}`] = bytes(high);
    return range;
  }

  timestampRange() {
    const [low, high] = this.twoOf(TIMES);
    const range = {};
    if (this.random.chance(0.7)) range.startTimestampMicros = low;
    if (this.random.chance(0.7)) range.endTimestampMicros = high;
    return range;
  }

  // In ascending order, and not equal: of texts, more than one apart.
  twoOf(choices) {
    for (;;) {
      const [low, high] = [this.random.pick(choices), this.random.pick(choices)];
      if (low < high && high !== `${low}\0`) return [low, high];
    }
  }

  // Nested to `depth` at most. `may` says what it may have:
  //   limits  of cells, where cells have no copies that are not equal: their order is not specified
  //   labels  where no filter before it has labels: a chain may have them once
  //   strip   where no filter before it has labels, which the emulator strips too
  filter(depth, may = {limits: true, labels: true, strip: true}) {
    const r = this.random;
    if (depth === 0 || r.chance(0.6)) return this.leaf(may);
    const parts = () => r.list(2, 3, () => this.filter(depth - 1, may));
    return r.choose(
      4, () => this.chain(depth, may),
      4, () => ({interleave: {filters: parts()}}),
      3, () => this.condition(depth, may)
    );
  }

  chain(depth, may) {
    const filters = [];
    for (let left = 2 + this.random.below(2); left > 0; --left) {
      const json = JSON.stringify(filters);
      const labelled = json.includes('applyLabel');
      const equal = !json.includes('interleave') || !/Transformer/.test(json);
      filters.push(
        this.filter(depth - 1, {
          limits: may.limits && equal,
          labels: may.labels && !labelled,
          strip: may.strip && !labelled,
        })
      );
    }
    return {chain: {filters}};
  }

  condition(depth, may) {
    const condition = {predicateFilter: this.filter(depth - 1, may)};
    if (this.random.chance(0.8)) condition.trueFilter = this.filter(depth - 1, may);
    if (this.random.chance(0.7)) condition.falseFilter = this.filter(depth - 1, may);
    return {condition};
  }

  leaf(may) {
    const r = this.random;
    return r.choose(
      2, () => ({passAllFilter: true}),
      1, () => ({blockAllFilter: true}),
      2, () => ({rowKeyRegexFilter: bytes(this.regex() || 'a')}),
      2, () => ({familyNameRegexFilter: this.familyRegex()}),
      2, () => ({columnQualifierRegexFilter: bytes(this.regex())}),
      2, () => ({valueRegexFilter: bytes(this.regex())}),
      2, () => ({
        columnRangeFilter: {familyName: this.family(), ...this.range('Qualifier', QUALIFIERS)},
      }),
      2, () => ({valueRangeFilter: this.range('Value', VALUES)}),
      2, () => ({timestampRangeFilter: this.timestampRange()}),
      may.strip ? 1 : 0, () => ({stripValueTransformer: true}),
      may.labels ? 1 : 0, () => ({applyLabelTransformer: r.pick(['l', 'label-2', 'abcdefghijklmno'])}),
      may.limits ? 4 : 0, () => this.limit()
    );
  }

  // Of a row, within one family: the order of families is not specified.
  limit() {
    const r = this.random;
    const family = {familyNameRegexFilter: r.pick([this.family(), this.aggregate()])};
    return r.choose(
      2, () => ({cellsPerColumnLimitFilter: r.pick([1, 2])}),
      1, () => ({chain: {filters: [family, {cellsPerRowOffsetFilter: r.pick([1, 2, 3])}]}}),
      1, () => ({chain: {filters: [family, {cellsPerRowLimitFilter: r.pick([1, 2, 3])}]}})
    );
  }

  // ---- changes ----

  setCell() {
    return {
      setCell: {
        familyName: this.family(),
        columnQualifier: bytes(this.random.pick(QUALIFIERS)),
        timestampMicros: this.random.pick(TIMES),
        value: bytes(this.random.pick(VALUES)),
      },
    };
  }

  aggregateCell() {
    return {
      familyName: this.aggregate(),
      columnQualifier: {rawValue: bytes(this.random.pick(QUALIFIERS))},
      timestamp: {rawTimestampMicros: this.random.pick(TIMES)},
    };
  }

  number() {
    return this.random.pick([0, 1, -1, 5, 1000, -70000, 4294967296]);
  }

  mutation() {
    const r = this.random;
    return r.choose(
      10, () => this.setCell(),
      2, () => ({addToCell: {...this.aggregateCell(), input: {intValue: this.number()}}}),
      1, () => ({mergeToCell: {...this.aggregateCell(), input: {rawValue: int64(this.number())}}}),
      2, () => ({
        deleteFromColumn: {
          familyName: r.pick([this.family(), this.aggregate()]),
          columnQualifier: bytes(r.pick(QUALIFIERS)),
          ...(r.chance(0.5) ? {timeRange: this.timestampRange()} : {}),
        },
      }),
      1, () => ({deleteFromFamily: {familyName: r.pick([this.family(), this.aggregate()])}}),
      1, () => ({deleteFromRow: {}})
    );
  }

  badMutation() {
    const r = this.random;
    const cell = this.setCell().setCell;
    const aggregate = this.aggregateCell();
    const bad = r.pick([
      [5, {setCell: {...cell, familyName: 'missing'}}],
      [3, {setCell: {...cell, timestampMicros: 1500}}],
      [3, {setCell: {...cell, timestampMicros: -2}}],
      [5, {deleteFromColumn: {familyName: 'missing', columnQualifier: bytes('q')}}],
      [3, {}],
      [3, {addToCell: {...aggregate, familyName: this.family(), input: {intValue: 1}}}],
      [5, {addToCell: {...aggregate, familyName: 'missing', input: {intValue: 1}}}],
    ]);
    return this.refused([bad[0]], () => bad[1]);
  }

  mutateRow() {
    return {rowKey: this.key(), mutations: this.random.list(1, 5, () => this.mutation())};
  }

  // Alone in its request: how much of a request that is refused takes effect is one of the
  // differences.
  badMutateRow() {
    return {rowKey: this.key(), mutations: [this.badMutation()]};
  }

  mutateRows() {
    return {entries: this.random.list(1, 4, () => this.mutateRow())};
  }

  checkAndMutateRow() {
    const r = this.random;
    const request = {rowKey: this.key(), trueMutations: [], falseMutations: []};
    if (r.chance(0.8)) request.predicateFilter = this.filter(2);
    if (r.chance(0.8)) request.trueMutations = r.list(1, 3, () => this.mutation());
    if (r.chance(0.6)) request.falseMutations = r.list(1, 3, () => this.mutation());
    const changesNothing = request.trueMutations.length + request.falseMutations.length === 0;
    return changesNothing ? this.refused([3], () => request) : request;
  }

  readModifyWriteRow() {
    const r = this.random;
    const rule = () => ({
      familyName: this.family(),
      columnQualifier: bytes(r.pick(QUALIFIERS)),
      ...(r.chance(0.5) ? {appendValue: bytes(r.pick(VALUES))} : {incrementAmount: this.number()}),
    });
    // A rule for each column: the emulator takes the time for each rule, and may write two cells.
    const rules = new Map(
      r.list(1, 3, rule).map(made => [`${made.familyName}:${text(made.columnQualifier)}`, made])
    );
    const request = {rowKey: this.key(), rules: [...rules.values()]};
    if (r.chance(0.03)) request.rules = [{...rule(), familyName: 'missing'}];
    return request;
  }

  // ---- tables ----

  dropRowRange() {
    const r = this.random;
    return r.chance(0.3)
      ? {deleteAllDataFromTable: true}
      : {rowKeyPrefix: bytes(r.pick([...KEYS, 'missing']))};
  }

  // One family at least is left.
  modifyColumnFamilies() {
    const r = this.random;
    const made = r.choose(
      3, () => ({id: r.pick([...FAMILIES, 'missing']), drop: true}),
      5, () => ({id: r.pick(FAMILIES), create: {}}),
      1, () => ({id: r.pick(FAMILIES), update: {gcRule: {maxNumVersions: 100}}})
    );
    const isLast = made.drop && this.families.length === 1;
    return {modifications: [isLast ? {id: r.pick(FAMILIES), create: {}} : made]};
  }
}

function int64(number) {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(BigInt(number));
  return buffer;
}

// The families that sequences begin with.
const TABLE = {
  columnFamilies: Object.fromEntries([
    ...FAMILIES.map(family => [family, {}]),
    ...AGGREGATES.map(aggregate => [
      aggregate,
      {
        valueType: {
          aggregateType: {
            inputType: {int64Type: {encoding: {bigEndianBytes: {}}}},
            [aggregate]: {},
          },
        },
      },
    ]),
  ]),
};

module.exports = {FAMILIES, Generator, TABLE, int64};
