// Asks for the status every second and shows it.

const page = {
  rates: new Map(),   // counters by name, as [time, value] from old to new
  status: null,
  failedSince: null,
  isPaused: false,
  eventKind: "",
};

// The rate of a counter that was `value` now, over the last few seconds. NaN: not known yet.
function rateOf(name, value) {
  const now = page.status.time;
  let past = page.rates.get(name);
  if (past === undefined) page.rates.set(name, past = []);
  if (past.length > 0 && value < past[past.length - 1][1]) past.length = 0;  // the server is another
  if (past.length === 0 || past[past.length - 1][0] < now) past.push([now, value]);
  while (past.length > 2 && past[1][0] < now - 3) past.shift();
  const [time, before] = past[0];
  return time < now ? (value - before) / (now - time) : NaN;
}

function sum(list, value) {
  return list.reduce((total, item) => total + value(item), 0);
}

const chart = new CallsChart(byId("calls-chart"), byId("calls-legend"));
const heatMap = new HeatMap();
heatMap.onTable = () => poll();

const methodRate = (row) => rateOf("method " + row.name, row.calls);
const minute = (name) => ({
  title: {p50: "50%", p90: "90%", p99: "99%", p999: "99.9%", max: "max"}[name], kind: "number",
  value: (row) => row.last_minute.count > 0 ? row.last_minute[name] : NaN, text: formatSeconds,
});
const methods = new DataTable("methods", (row) => row.name, [
  {title: "Method", value: (row) => row.name},
  {title: "Calls/s", kind: "number", value: methodRate, text: formatRate},
  minute("p50"), minute("p90"), minute("p99"), minute("p999"), minute("max"),
  {title: "Calls", kind: "number", value: (row) => row.calls, text: formatCount},
  {title: "Errors", kind: "number", value: (row) => row.errors, text: formatCount,
   mark: (value) => value > 0 ? "bad" : "dim"},
  {title: "In", kind: "number", value: (row) => row.request_bytes, text: formatBytes, hint: "bytes of requests"},
  {title: "Out", kind: "number", value: (row) => row.response_bytes, text: formatBytes, hint: "bytes of responses"},
]);

const groups = new DataTable("groups", (row) => row.table + "/" + row.name, [
  {title: "Locality group", value: (row) => row.table + "/" + row.name},
  {title: "Memtables", kind: "number", value: (row) => row.memtables, text: formatCount},
  {title: "In memory", kind: "number", value: (row) => row.memtable_bytes, text: formatBytes},
  {title: "Runs", kind: "number", value: (row) => row.sorted_runs, text: formatCount, hint: "sorted runs, over all tablets"},
  {title: "Files", kind: "number", value: (row) => row.files, text: formatCount},
  {title: "On disk", kind: "number", value: (row) => row.file_bytes, text: formatBytes},
  {title: "Entries", kind: "number", value: (row) => row.entries, text: formatCount, hint: "in files, deletions included"},
]);

const events = new DataTable("events", (row) => row.number, [
  {title: "Time", value: (row) => row.time, text: formatTime, kind: "dim"},
  {title: "Event", value: (row) => row.kind, mark: (value, row) => row.is_failure ? "bad" : value === "stall" ? "warn" : ""},
  {title: "Where", value: placeOf},
  {title: "What", value: (row) => row.what, kind: "text"},
  {title: "Read", kind: "number", value: (row) => row.bytes_read, text: (value) => value ? formatBytes(value) : ""},
  {title: "Written", kind: "number", value: (row) => row.bytes_written, text: (value) => value ? formatBytes(value) : ""},
  {title: "Took", kind: "number", value: (row) => row.duration, text: (value) => value ? formatSeconds(value) : ""},
]);

const slow = new DataTable("slow", (row) => row.time + row.row + row.duration, [
  {title: "Time", value: (row) => row.time, text: formatTime, kind: "dim"},
  {title: "Request", value: (row) => row.request},
  {title: "Table", value: (row) => row.table},
  {title: "Row", value: (row) => row.row, kind: "key"},
  {title: "Took", kind: "number", value: (row) => row.duration, text: formatSeconds},
  {title: "Where the time went", kind: "times", value: (row) => row.duration, fill: fillTimes},
  {title: "Details", value: slowDetails, kind: "text"},
], {column: 4, down: true});

let mostRead = 0, mostWritten = 0;
const readRate = (row) => rateOf("tablet reads " + tabletKey(row), row.reads);
const writeRate = (row) => rateOf("tablet writes " + tabletKey(row), row.rows_written);
const tablets = new DataTable("tablets", tabletKey, [
  {title: "Table", value: (row) => row.table, mark: (value) => value === "METADATA" || value.includes("..") ? "dim" : ""},
  {title: "Rows", value: (row) => formatRange(row.begin, row.end), kind: "key"},
  {title: "Server", value: (row) => row.server},
  loadColumn("Reads/s", readRate, () => mostRead, "reads of rows and steps of streams; about, of a sample"),
  loadColumn("Rows written/s", writeRate, () => mostWritten),
  {title: "On disk", kind: "number", value: (row) => row.size.file_bytes, text: formatBytes},
  {title: "In memory", kind: "number", value: (row) => row.size.memtable_bytes, text: formatBytes},
  {title: "Runs", kind: "number", value: (row) => row.size.sorted_runs, text: formatCount},
  {title: "Files", kind: "number", value: (row) => row.size.files, text: formatCount},
  {title: "Entries", kind: "number", value: (row) => row.size.entries, text: formatCount},
]);

const tables = new DataTable("tables", (row) => row.name, [
  {title: "Table", value: (row) => row.name, mark: (value, row) => row.is_own ? "dim" : ""},
  {title: "Tablets", kind: "number", value: (row) => row.tablets, text: formatCount},
  {title: "Read/s", hint: "rows that were read in a second", kind: "number", value: (row) => rateOf("table reads " + row.name, row.rows_read || 0), text: formatRate},
  {title: "Written/s", hint: "rows that were written in a second", kind: "number", value: (row) => rateOf("table writes " + row.name, row.rows_written), text: formatRate},
  {title: "On disk", kind: "number", value: (row) => row.disk_bytes || 0, text: formatBytes},
  {title: "In memory", kind: "number", value: (row) => row.memtable_bytes || 0, text: formatBytes},
]);

const servers = new DataTable("servers", (row) => row.label, [
  {title: "Server", value: (row) => row.label, hint: "a tablet server of this process"},
  {title: "Tablets", kind: "number", value: (row) => row.tablets, text: formatCount},
  {title: "Reads/s", kind: "number", value: (row) => rateOf("server reads " + row.label, row.reads), text: formatRate},
  {title: "Rows written/s", kind: "number", value: (row) => rateOf("server writes " + row.label, row.rows_written), text: formatRate},
  {title: "Log/s", kind: "number", value: (row) => rateOf("server log " + row.label, row.log_bytes_written), text: formatBytes},
  {title: "Syncs/s", kind: "number", value: (row) => rateOf("server syncs " + row.label, row.log_syncs), text: formatRate},
  {title: "Live log", kind: "number", value: (row) => row.log_bytes_live, text: formatBytes},
  {title: "On disk", kind: "number", value: (row) => row.file_bytes, text: formatBytes},
  {title: "Writers", value: (row) => row.stall.reason,
   text: (value, row) => value === "none" ? "not slowed" : value + ", " + formatSeconds(row.stall.delay),
   mark: (value) => value === "none" ? "dim" : "warn"},
]);

function tabletKey(row) {
  return row.table + "\n" + (row.end === null ? "" : "x" + row.end);
}

function placeOf(row) {
  const place = row.place;
  if (place.table === "") return place.server;
  return place.table + (place.group ? "/" + place.group : "");
}

function slowDetails(row) {
  const parts = [];
  if (row.error) parts.push(row.error);
  if (row.mutations > 0) parts.push(plural(row.mutations, "mutation") + " in a group of " + row.group_size);
  if (row.rows > 0 || row.mutations === 0) parts.push(plural(row.rows, "row") + ", " + plural(row.cells, "cell"));
  if (row.files > 0) parts.push(plural(row.files, "file") + (row.bytes_read > 0 ? ", " + formatBytes(row.bytes_read) + " read" : ""));
  return parts.join("; ");
}

function tile(name, value, unit, more, share = null) {
  const made = element("div", {class: "tile", "data-name": name},
    element("div", {class: "name"}, name),
    element("div", {class: "value"}, value, element("span", {class: "unit"}, unit)),
    element("div", {class: "more", title: more}, more));
  if (share !== null) {
    made.append(element("div", {class: "bar"}, element("i", {style: "width:" + (100 * Math.min(1, share)).toFixed(1) + "%"})));
  }
  return made;
}

function worstP99(status) {
  const used = status.methods.filter((method) => method.last_minute.count > 0);
  if (used.length === 0) return ["–", "no calls in the last minute"];
  const worst = used.reduce((a, b) => a.last_minute.p99 > b.last_minute.p99 ? a : b);
  return [formatSeconds(worst.last_minute.p99), worst.name];
}

function showTiles(status) {
  const calls = sum(status.methods, (method) => method.calls);
  const errors = sum(status.methods, (method) => method.errors);
  const memory = status.memory;
  const used = sum(Object.entries(memory), ([name, bytes]) => name === "limit" ? 0 : bytes);
  const server = status.server;
  const [p99, method] = worstP99(status);
  const isStalled = status.stall.reason !== "none";
  const writers = tile("Writers", isStalled ? formatSeconds(status.stall.delay) : "not slowed", isStalled ? "a write" : "",
    isStalled ? "reason: " + status.stall.reason : "waited " + formatSeconds(status.stall.total_delay));
  if (isStalled) writers.classList.add("warn");
  byId("tiles").replaceChildren(
    tile("Calls", formatRate(rateOf("calls", calls)), "/s", formatCount(calls) + " in all"),
    tile("Errors", formatRate(rateOf("errors", errors)), "/s", formatCount(errors) + " in all"),
    tile("Rows read", formatRate(rateOf("rows read", status.totals.rows_read)), "/s", formatCount(status.totals.rows_read) + " in all"),
    tile("Rows written", formatRate(rateOf("rows written", status.totals.rows_written)), "/s", formatCount(status.totals.rows_written) + " in all"),
    tile("Slowest 99%", p99, "", method),
    writers,
    tile("Memory budget", formatBytes(used), "", "of " + formatBytes(memory.limit), used / memory.limit),
    tile("On disk", formatBytes(status.totals.disk_bytes), "", formatBytes(rateOf("compactions", status.totals.merging_compaction_bytes_written + status.totals.minor_compaction_bytes_written)) + "/s compacted"),
    tile("Processor", formatRate(rateOf("cpu", server.cpu_seconds) * 100), "% of one", formatBytes(server.resident_bytes) + ", " + server.threads + " threads"));
}

function showHeader(status) {
  const health = byId("health");
  health.textContent = status.server.is_healthy ? "serving" : "not serving";
  health.className = "pill " + (status.server.is_healthy ? "good" : "bad");
  const about = [["gRPC", status.server.address], ["database", status.server.directory],
                 ["up", formatSpan(status.time - status.server.began)]];
  byId("about").replaceChildren(...about.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

function showProblems(status) {
  const lines = [...status.problems];
  if (!status.server.is_healthy) lines.unshift("Not serving: " + status.server.reason);
  const box = byId("problems");
  box.hidden = lines.length === 0;
  box.className = "";
  box.replaceChildren(...lines.map((line) => element("p", {}, line)));
}

function showRunning(status) {
  const lines = status.running.map((running) => element("li", {},
    element("b", {}, running.kind), element("span", {}, placeOf(running)), element("span", {}, running.what),
    element("span", {class: "when"}, (running.bytes > 0 ? formatBytes(running.bytes) + ", " : "") + formatSeconds(Math.max(0, status.time - running.since)))));
  if (lines.length === 0) lines.push(element("li", {class: "nothing"}, "no flush and no compaction"));
  byId("running").replaceChildren(...lines);
}

function showEvents() {
  events.update(page.status.events.filter((event) => page.eventKind === "" || event.kind === page.eventKind));
}

function show(status) {
  page.status = status;
  showHeader(status);
  showProblems(status);
  showTiles(status);
  chart.update(status.method_names, status.history);
  heatMap.update(status.heat, status.time);
  methods.update(status.methods.filter((method) => method.calls > 0));
  const allGroups = status.tables.flatMap((table) => table.groups.map((group) => ({...group, table: table.name})));
  groups.update(allGroups);
  showRunning(status);
  showEvents();
  slow.update(status.slow);
  mostRead = Math.max(0, ...status.tablets.map((row) => readRate(row) || 0));
  mostWritten = Math.max(0, ...status.tablets.map((row) => writeRate(row) || 0));
  tablets.update(status.tablets);
  const left = status.tablet_count - status.tablets.length;
  byId("tablets-note").textContent = status.tablet_count + (left > 0 ? ", of which " + left + " are not shown" : "");
  const writtenBy = (name) => sum(status.tablets.filter((row) => row.table === name), (row) => row.rows_written);
  tables.update(status.tables.map((table) => ({...table, rows_written: writtenBy(table.name)})));
  servers.update(status.servers);
  byId("updated").textContent = page.isPaused ? "paused at " + formatTime(status.time) : formatTime(status.time);
  document.body.dataset.time = String(status.time);
}

function showFailure(error) {
  page.failedSince = page.failedSince || Date.now() / 1000;
  const health = byId("health");
  health.textContent = "no answer since " + formatTime(page.failedSince);
  health.className = "pill bad";
  health.title = String(error);
}

async function poll() {
  const query = new URLSearchParams({...heatMap.query, since: String(chart.since)});
  try {
    const response = await fetch("status.json?" + query, {signal: AbortSignal.timeout(5000), cache: "no-store"});
    if (!response.ok) throw new Error(response.status + " " + await response.text());
    const status = await response.json();
    page.failedSince = null;
    byId("health").title = "";
    if (status.server.began !== (page.status || status).server.began) {
      heatMap.forget("");
      page.rates.clear();
    }
    show(status);
  } catch (error) {
    showFailure(error);
  }
}

async function run() {
  for (;;) {
    const began = Date.now();
    if (!page.isPaused && !document.hidden) await poll();
    await new Promise((done) => setTimeout(done, Math.max(200, 1000 - (Date.now() - began))));
  }
}

function setTheme(choice) {
  const isDark = choice === "Auto" ? matchMedia("(prefers-color-scheme: dark)").matches : choice === "Dark";
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  byId("theme").textContent = choice;
  try {
    localStorage.setItem("theme", choice);
  } catch { /* not allowed to keep it */ }
  if (page.status !== null) {
    chart.draw();
    heatMap.draw();
  }
}

function storedTheme() {
  try {
    return localStorage.getItem("theme") || "Auto";
  } catch {
    return "Auto";
  }
}

byId("theme").addEventListener("click", () => {
  const choices = ["Auto", "Dark", "Light"];
  setTheme(choices[(choices.indexOf(byId("theme").textContent) + 1) % choices.length]);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(byId("theme").textContent));
byId("pause").addEventListener("click", (event) => {
  page.isPaused = !page.isPaused;
  event.currentTarget.setAttribute("aria-pressed", String(page.isPaused));
  event.currentTarget.textContent = page.isPaused ? "Paused" : "Pause";
});
for (const button of document.querySelectorAll("#event-kinds button")) {
  button.addEventListener("click", () => {
    press(button);
    page.eventKind = button.dataset.kind;
    if (page.status !== null) showEvents();
  });
}
byId("slow-legend").replaceChildren(...TIME_PARTS.map(([, title, color]) =>
  element("span", {}, element("i", {style: "background:" + color}), title)));
new ResizeObserver(() => {
  if (page.status === null) return;
  chart.draw();
  heatMap.draw();
}).observe(document.querySelector("main"));

setTheme(storedTheme());
run();
