// Asks for the status every second and shows it.

const page = {
  rates: new Map(),   // counters by name, as [time, value] from old to new
  status: null,
  failedSince: null,
  isPaused: false,
  eventKind: "",
  errorKind: "errors",
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

const history = new History();
const callsChart = new AreaChart(byId("calls-chart"), byId("calls-legend"), history, () => page.status.method_names.map(
  (name, i) => ({name, color: METHOD_COLORS[i], value: (second) => second.calls[i]})), "no calls yet");
const errorsChart = new AreaChart(byId("errors-chart"), byId("errors-legend"), history,
  () => codeSeries(history, page.errorKind === "given-up"), "none in the last 5 minutes");
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
  {title: "Errors", kind: "number", value: errorsOf, text: formatCount, mark: (value) => value > 0 ? "bad" : "dim",
   hint: "without those that clients have given up"},
  {title: "Given up", kind: "number", value: givenUpOf, text: formatCount, mark: () => "dim",
   hint: "deadlines that have passed, and calls that clients have cancelled"},
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
  {title: "Writers", value: (row) => row.refuses_writes ? "refused" : row.stall.reason,
   text: (value, row) => value === "refused" ? "refused" : value === "none" ? "not slowed" : value + ", " + formatSeconds(row.stall.delay),
   mark: (value) => value === "refused" ? "bad" : value === "none" ? "dim" : "warn"},
]);

// By code, of a method.
function countCodes(row, isCounted) {
  return sum(Object.entries(row.codes), ([code, count]) => code !== "OK" && isCounted(code) ? count : 0);
}
function errorsOf(row) {
  return countCodes(row, (code) => !isGivenUp(code));
}
function givenUpOf(row) {
  return countCodes(row, isGivenUp);
}

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

function tile(name, value, unit, more, {share = null, mark = ""} = {}) {
  const made = element("div", {class: ("tile " + mark).trim(), "data-name": name},
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

// Less is no room: the log is written in pieces of this size.
const LEAST_DISK = 4 * 1024 * 1024;

function writersTile(status) {
  const stopped = status.servers.filter((server) => server.refuses_writes);
  if (stopped.length > 0) {
    const names = stopped.map((server) => server.label).join(", ");
    return tile("Writers", "refused", "", "by " + names + ": " + stopped[0].refuses_writes, {mark: "bad"});
  }
  const disk = status.server.disk;
  if (disk !== null && disk.free_bytes < LEAST_DISK) return tile("Writers", "no room", "", "the disk is full", {mark: "bad"});
  if (status.failing_flushes > 0) return tile("Writers", "flushes fail", "", "writers wait when memory is full", {mark: "bad"});
  const {reason, delay, total_delay: waited} = status.stall;
  if (reason === "none") return tile("Writers", "not slowed", "", "waited " + formatSeconds(waited));
  return tile("Writers", formatSeconds(delay), "a write", "reason: " + reason, {mark: "warn"});
}

function diskTile(disk) {
  if (disk === null) return tile("Disk free", "–", "", "not known");
  const used = disk.total_bytes > 0 ? 1 - disk.free_bytes / disk.total_bytes : 1;
  const isOutOfFiles = disk.total_files > 0 && disk.free_files === 0;
  const mark = disk.free_bytes < LEAST_DISK || isOutOfFiles ? "bad" : used > 0.95 ? "warn" : "";
  return tile("Disk free", formatBytes(disk.free_bytes), "",
    isOutOfFiles ? "no inode is free" : "of " + formatBytes(disk.total_bytes), {share: used, mark});
}

function descriptorsTile(server) {
  const share = server.descriptors / server.descriptor_limit;
  return tile("Descriptors", formatCount(server.descriptors), "", "of " + formatCount(server.descriptor_limit),
    {share, mark: share > 0.95 ? "bad" : share > 0.8 ? "warn" : ""});
}

function showTiles(status) {
  const calls = sum(status.methods, (method) => method.calls);
  const errors = sum(status.methods, errorsOf);
  const givenUp = sum(status.methods, givenUpOf);
  const memory = status.memory;
  const used = sum(Object.entries(memory), ([name, bytes]) => name === "limit" ? 0 : bytes);
  const server = status.server;
  const totals = status.totals;
  const [p99, method] = worstP99(status);
  byId("tiles").replaceChildren(
    tile("Calls", formatRate(rateOf("calls", calls)), "/s", formatCount(calls) + " in all"),
    tile("Errors", formatRate(rateOf("errors", errors)), "/s", formatCount(errors) + " in all; " + formatCount(givenUp) + " given up"),
    tile("Slowest 99%", p99, "", method),
    writersTile(status),
    tile("Rows read", formatRate(rateOf("rows read", totals.rows_read)), "/s", formatCount(totals.rows_read) + " in all"),
    tile("Rows written", formatRate(rateOf("rows written", totals.rows_written)), "/s", formatCount(totals.rows_written) + " in all"),
    tile("Memory budget", formatBytes(used), "", "of " + formatBytes(memory.limit), {share: used / memory.limit}),
    tile("Data on disk", formatBytes(totals.disk_bytes), "", formatBytes(rateOf("compactions", totals.merging_compaction_bytes_written + totals.minor_compaction_bytes_written)) + "/s compacted"),
    diskTile(server.disk),
    descriptorsTile(server),
    tile("Connections", server.connections === null ? "–" : formatCount(server.connections), "",
      plural(server.streams, "stream") + ", " + formatCount(server.waiting_streams) + " waiting"),
    tile("Processor", formatRate(rateOf("cpu", server.cpu_seconds) * 100), "% of one", formatBytes(server.resident_bytes) + ", " + plural(server.threads, "thread")));
}

function showHeader(status) {
  const health = byId("health");
  health.textContent = status.server.is_healthy ? "serving" : "not serving";
  health.className = "pill " + (status.server.is_healthy ? "good" : "bad");
  const about = [["gRPC", status.server.address], ["database", status.server.directory],
                 ["version", status.server.version], ["up", formatSpan(status.time - status.server.began)]];
  byId("about").replaceChildren(...about.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

function showProblems(status) {
  const lines = [...status.problems];
  const {is_healthy: isHealthy, reason} = status.server;
  if (!isHealthy && !lines.some((line) => line.includes(reason))) lines.unshift("Not serving: " + reason);
  byId("problems").hidden = lines.length === 0;
  byId("problem-lines").replaceChildren(...lines.map((line) => element("p", {}, line)));
  byId("resumption").hidden = !status.can_resume;
}

// The header is what a page of another site cannot send.
async function resumeDatabase() {
  const button = byId("resume"), outcome = byId("resumed");
  button.disabled = true;
  outcome.textContent = "Resuming …";
  try {
    const response = await fetch("resume", {method: "POST", headers: {"Bigtable-Action": "resume"}});
    const text = (await response.text()).trim();
    outcome.textContent = response.ok ? "Resumed." : "Not resumed: " + text;
  } catch (error) {
    outcome.textContent = "Not resumed: " + error;
  }
  button.disabled = false;
}

// What requests take of the memory, if the server says so.
function showRequests(requests) {
  byId("requests").hidden = requests === undefined;
  if (requests === undefined) return;
  const figures = [["being received", formatBytes(requests.receiving_bytes)],
                   ["being executed", formatBytes(requests.executing_bytes)],
                   ["calls that wait", formatCount(requests.waiting)],
                   ["largest that is taken", formatBytes(requests.largest)],
                   ...Object.entries(requests.refused).map(([reason, count]) => ["refused: " + reason.replaceAll("_", " "), formatCount(count)])];
  byId("request-figures").replaceChildren(...figures.map(figure));
}

function figure([name, value]) {
  return element("div", {}, element("dt", {}, name), element("dd", {title: value}, value === "" ? "–" : value));
}

function showOptions(server) {
  byId("version").textContent = "bigtable-server " + server.version;
  byId("options").replaceChildren(...server.options.map(figure));
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
  history.add(status.history);
  callsChart.draw();
  errorsChart.draw();
  heatMap.update(status.heat, status.time);
  methods.update(status.methods.filter((method) => method.calls > 0));
  const allGroups = status.tables.flatMap((table) => table.groups.map((group) => ({...group, table: table.name})));
  groups.update(allGroups);
  showRunning(status);
  showRequests(status.requests);
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
  showOptions(status.server);
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
  const query = new URLSearchParams({...heatMap.query, since: String(history.since)});
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
    callsChart.draw();
    errorsChart.draw();
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
for (const button of document.querySelectorAll("#error-kinds button")) {
  button.addEventListener("click", () => {
    press(button);
    page.errorKind = button.dataset.kind;
    if (page.status !== null) errorsChart.draw();
  });
}
byId("resume").addEventListener("click", resumeDatabase);
byId("slow-legend").replaceChildren(...TIME_PARTS.map(([, title, color]) =>
  element("span", {}, element("i", {style: "background:" + color}), title)));
new ResizeObserver(() => {
  if (page.status === null) return;
  callsChart.draw();
  errorsChart.draw();
  heatMap.draw();
}).observe(document.querySelector("main"));

setTheme(storedTheme());
run();
