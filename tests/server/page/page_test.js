// The status page in a browser, while a server has traffic: what it shows is what /status.json says,
// and that is what the traffic did.
//
//   page_test.js CHROMIUM BINARIES OUTPUT
"use strict";

const assert = require("node:assert/strict");
const {execFile, spawn} = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const {after, before, test} = require("node:test");
const {createRequire} = require("node:module");

const [chromium, binaries, output] = process.argv.slice(2);
const playwright = createRequire(path.join(output, "run.js"))("playwright-core");

const MOST_TRAFFIC_SECONDS = 120;  // ended before, when enough was seen
const HOT_ROW = "user72000000";  // of traffic.cc
const BROWSER_FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const servers = [];  // processes
let browser, page, url, trafficProcess, traffic, trafficText;
const directory = fs.mkdtempSync(path.join(os.tmpdir(), "bigtable-page-"));
const errors = [];      // of the page's scripts
const otherHosts = [];  // that it asked for something
let statuses = [];      // what /status.json has answered

function startServer(name = "db", flags = []) {
  const started = spawn(path.join(binaries, "bigtable-server"),
    [path.join(directory, name), "--address", "127.0.0.1:0", "--memory", "16MB", ...flags],
    {stdio: ["ignore", "pipe", "inherit"]});
  servers.push(started);
  return new Promise((resolve, reject) => {
    let text = "";
    started.stdout.on("data", (data) => {
      text += data;
      const found = text.match(/on (\S+:\d+)\n.*status page on (\S+)\n/);
      if (found) resolve({address: found[1], url: found[2]});
    });
    started.on("exit", () => reject(new Error("the server has ended: " + text)));
  });
}

function ended(process) {
  if (process.exitCode !== null || process.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    process.removeAllListeners("exit").on("exit", resolve);
    process.kill("SIGKILL");
  });
}

async function openPage() {
  page = await browser.newPage({viewport: {width: 1440, height: 900}, colorScheme: "light"});
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) otherHosts.push(request.url());
  });
  page.on("response", async (response) => {
    if (!response.url().includes("/status.json")) return;
    statuses.push(await response.json().catch(() => null));
    statuses = statuses.filter((status) => status !== null);
  });
  await page.goto(url);
}

// Waits until the page shows a status, stops it there, and returns that status.
async function pausedStatus() {
  if (await page.getAttribute("#pause", "aria-pressed") === "false") await page.click("#pause");
  await page.waitForTimeout(600);  // one that is on its way
  const time = Number(await page.evaluate(() => document.body.dataset.time));
  const status = statuses.find((candidate) => candidate.time === time);
  assert.ok(status, "the page shows a status that the server has sent");
  return status;
}

async function resume() {
  await page.click("#pause");
  const time = await page.evaluate(() => document.body.dataset.time);
  await page.waitForFunction((old) => document.body.dataset.time !== old, time);
}

// The columns of the heat map, by number, from what the server has sent until then.
function heatUntil(until) {
  let columns = new Map();
  for (const {heat, time} of statuses) {
    if (time > until.time || heat.columns === undefined) continue;
    if (heat.is_whole) columns = new Map();
    for (const column of heat.columns) columns.set(column.number, column);
  }
  return columns;
}

// The cell that has the most, as {number, range, rate, begin, end}. The span is five minutes.
function hottest(until, what) {
  const {begins, column_seconds: seconds} = until.heat;
  let best = {rate: -1};
  for (const [number, column] of heatUntil(until)) {
    const over = Math.min(Math.max(until.time - number * seconds, 1), seconds);
    column[what].forEach((rows, range) => {
      if (rows / over > best.rate) best = {number, range, rate: rows / over};
    });
  }
  assert.ok(best.rate > 0, "there is heat");
  return {...best, begin: begins[best.range], end: begins[best.range + 1] || "last"};
}

// The cells of a table's row, by the column's title.
function rowOf(table, key) {
  return page.evaluate(([id, name]) => {
    const titles = [...document.querySelectorAll(`#${id} th`)].map((cell) => cell.textContent);
    const line = [...document.querySelectorAll(`#${id} tbody tr`)].find((row) => row.dataset.key === name);
    if (line === undefined) return null;
    return Object.fromEntries([...line.children].map((cell, i) => [titles[i], cell.textContent]));
  }, [table, key]);
}

const format = (name, value) => page.evaluate(([function_, of]) => eval(function_)(of), [name, value]);
const tile = (name, part) => page.textContent(`.tile[data-name="${name}"] .${part}`);

async function screenshot(name, options = {fullPage: true}) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({path: path.join(output, name + ".png"), ...options});
}

before(async () => {
  const started = await startServer();
  url = started.url;
  browser = await playwright.chromium.launch({executablePath: chromium, args: BROWSER_FLAGS});
  await openPage();
  traffic = new Promise((resolve, reject) => {
    trafficProcess = execFile(path.join(binaries, "bigtable_page_traffic"),
      [started.address, String(MOST_TRAFFIC_SECONDS)],
      (error, stdout) => error ? reject(error) : resolve(stdout));
  });
  traffic.catch(() => {});  // reported where it is awaited
});

after(async () => {
  if (trafficProcess) trafficProcess.kill();
  if (browser) await browser.close();
  for (const server of servers) await ended(server);  // before its directory is removed
  fs.rmSync(directory, {recursive: true, force: true});
});

test("it updates itself every second", async () => {
  await page.waitForFunction(() => document.body.dataset.time !== undefined);
  const times = new Set();
  const began = performance.now();
  let tenths = 0;  // of a second
  for (; tenths < 40 || (times.size < 3 && tenths < 300); tenths = (performance.now() - began) / 100) {
    times.add(await page.evaluate(() => document.body.dataset.time));
    await page.waitForTimeout(100);
  }
  assert.ok(times.size >= 3, `${times.size} statuses in ${tenths} tenths of a second`);
  assert.ok(times.size <= 2 + tenths / 10, `${times.size} statuses in ${tenths} tenths of a second`);
});

test("it shows rates, load by tablet and heat while there is traffic", async () => {
  await page.waitForTimeout(12000);
  const status = await pausedStatus();
  const calls = await rowOf("methods", "MutateRow");
  assert.match(calls["Calls/s"], /^[\d.,]+( k)?$/);
  assert.notEqual(calls["Calls/s"], "0");
  assert.equal(status.tablets.filter((tablet) => tablet.table === "people").length, 4);
  for (const end of ["user3", "user6", "user8"]) {
    const tablet = await rowOf("tablets", "people\nx" + end);
    assert.ok(tablet, "the tablet that ends with " + end);
    assert.notEqual(tablet["Rows written/s"], "0");
  }
  assert.ok(status.heat.begins.length > 10, status.heat.begins.length + " ranges");
  assert.deepEqual(["user3", "user6", "user8"].filter((key) => !status.heat.begins.includes(key)), []);
  await screenshot("light");
  await page.click("#heat [data-span='12']");
  await page.locator("#heat").screenshot({path: path.join(output, "heat-reads.png")});
  await resume();
});

test("the heat map shows the range and the rate under the mouse", async () => {
  const status = await pausedStatus();
  await page.click("#heat [data-span='60']");
  for (const what of ["reads", "writes"]) {
    await page.click("#heat-" + what);
    const most = hottest(status, what);
    const expected = await page.evaluate(({number, range}) => {
      const inner = heatMap.layout(heatMap.canvas.clientWidth, heatMap.canvas.clientHeight);
      const first = heatMap.lastColumn - heatMap.span + 1;
      return {
        x: inner.left + inner.width * (number - first + 0.5) / heatMap.span,
        y: inner.top + inner.height * (range + 0.5) / heatMap.begins.length,
      };
    }, most);
    await page.hover("#heat-canvas", {position: {x: expected.x, y: expected.y}});
    assert.equal(await page.textContent(`#heat-readout [data-what=${what}]`), await format("formatRate", most.rate));
    assert.equal(await page.textContent("#heat-readout [data-what=range]"), `${most.begin || "first"} … ${most.end}`);
    assert.equal(await page.textContent("#heat-most"), await format("formatRate", most.rate) + " rows/s");
    const color = await page.evaluate(({x, y}) => {
      const ratio = devicePixelRatio;
      return [...heatMap.canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data];
    }, expected);
    assert.ok(color[0] > 200 && color[1] > 200, "the most is the lightest: " + color);
  }
  await page.locator("#heat").screenshot({path: path.join(output, "heat-writes.png")});
  await page.click("#heat-reads");
  await resume();
});

test("a hot row stands out among its neighbours", async () => {
  // In a column after the ranges were divided. On a busy machine the traffic may pause in one.
  const shown = [];
  for (let attempt = 0; attempt < 8; ++attempt) {
    await page.waitForTimeout(6000);
    const status = await pausedStatus();
    await resume();
    const {begins} = status.heat;
    const range = begins.findLastIndex((begin) => begin <= HOT_ROW);
    const columns = [...heatUntil(status).values()].sort((a, b) => a.number - b.number);
    const column = columns[columns.length - 2];  // the last that is whole
    const isHot = ["reads", "writes"].map((what) => {
      const rows = column[what];
      const around = Math.max(rows[range - 1], rows[range + 1]);
      shown.push(`${begins[range]} … ${begins[range + 1]}: ${rows[range]} ${what}, around it ${around}`);
      return rows[range] > 4 * around;
    });
    if (isHot.every(Boolean)) return;
  }
  assert.fail(shown.join("; "));
});

test("after the traffic, the page, the status and the traffic agree", async () => {
  const hasAll = (status) => status.totals.minor_compactions > 0 && status.slow.length > 0;
  for (let i = 0; i < 60 && !hasAll(statuses.at(-1)); ++i) await page.waitForTimeout(1000);
  trafficProcess.stdin.end();
  trafficText = await traffic;
  const [written, read, refused] = trafficText.match(/\d+/g).map(Number);
  await page.waitForTimeout(2500);
  const status = await pausedStatus();
  const of = (name) => status.methods.find((method) => method.name === name);

  assert.equal(status.tables.find((table) => table.name === "people").rows_read, read);
  assert.equal(of("MutateRow").errors, refused);
  assert.deepEqual(of("MutateRow").codes.NOT_FOUND, refused);
  const tablets = status.tablets.filter((tablet) => tablet.table === "people");
  assert.equal(tablets.reduce((sum, tablet) => sum + tablet.rows_written, 0), written);
  assert.equal(of("MutateRow").calls - refused + 20 * of("MutateRows").calls, written);
  assert.ok(of("Admin").calls >= 1, "the creation of the table");

  assert.equal(await tile("Rows written", "more"), await format("formatCount", status.totals.rows_written) + " in all");
  assert.equal(await tile("Rows read", "more"), await format("formatCount", status.totals.rows_read) + " in all");
  for (const method of status.methods.filter((candidate) => candidate.calls > 0)) {
    const row = await rowOf("methods", method.name);
    assert.equal(row.Calls, await format("formatCount", method.calls));
    assert.equal(row.Errors, await format("formatCount", method.errors));
    assert.equal(row["99%"], await format("formatSeconds", method.last_minute.p99));
    assert.equal(row.Out, await format("formatBytes", method.response_bytes));
  }
  for (const tablet of tablets) {
    const row = await rowOf("tablets", "people\n" + (tablet.end === null ? "" : "x" + tablet.end));
    assert.equal(row["On disk"], await format("formatBytes", tablet.size.file_bytes));
    assert.equal(row.Entries, await format("formatCount", tablet.size.entries));
  }
  await resume();
});

test("the heat adds up to the rows, about", async () => {
  const status = await (await fetch(url + "status.json?table=people")).json();
  const [written, read] = trafficText.match(/\d+/g).map(Number);
  const sum = (what) => status.heat.columns.reduce(
    (total, column) => total + column[what].reduce((a, b) => a + b, 0), 0);
  assert.ok(Math.abs(sum("writes") - written) < written / 10, `${sum("writes")} of ${written} written`);
  assert.ok(Math.abs(sum("reads") - read) < read / 10, `${sum("reads")} of ${read} read`);
});

test("flushes, compactions and slow requests are shown", async () => {
  const status = await pausedStatus();
  assert.ok(status.totals.minor_compactions > 0);
  assert.ok(status.events.some((event) => event.kind === "flush" && event.place.table === "people"));
  await page.click("#event-kinds [data-kind=flush]");
  const shown = await page.$$eval("#events tbody tr td:nth-child(2)", (cells) => cells.map((cell) => cell.textContent));
  assert.equal(shown.length, status.events.filter((event) => event.kind === "flush").length);
  assert.deepEqual([...new Set(shown)], ["flush"]);
  await page.click("#event-kinds [data-kind='']");

  assert.ok(status.slow.length > 0);
  const took = await page.$eval("#slow tbody tr:first-child td:nth-child(5)", (cell) => cell.textContent);
  assert.equal(took, await format("formatSeconds", Math.max(...status.slow.map((request) => request.duration))));
  const bars = await page.$$eval("#slow .times-bar", (all) => all.map((bar) =>
    [...bar.children].reduce((sum, part) => sum + parseFloat(part.style.width), 0)));
  assert.ok(bars.every((width) => Math.abs(width - 100) < 1), "the parts of a request are all of it");
  await resume();
});

test("errors are shown by code, apart from what clients have given up", async () => {
  const legend = () => page.textContent("#errors-legend");
  assert.match(await legend(), /NOT_FOUND/);
  await page.click("#error-kinds [data-kind=given-up]");
  assert.match(await legend(), /none in the last 5 minutes/);
  await page.click("#error-kinds [data-kind=errors]");
  const refused = Number(trafficText.match(/\d+/g)[2]);
  assert.match(await tile("Errors", "more"), new RegExp(`^${await format("formatCount", refused)} in all; 0 given up$`));
});

test("what the server has left, its version and its options are shown", async () => {
  const status = await pausedStatus();
  const {disk, descriptors, descriptor_limit: limit, connections, version, options} = status.server;
  assert.equal(await tile("Disk free", "value"), await format("formatBytes", disk.free_bytes));
  assert.equal(await tile("Descriptors", "value"), await format("formatCount", descriptors));
  assert.equal(await tile("Descriptors", "more"), "of " + await format("formatCount", limit));
  assert.equal(await tile("Connections", "value"), await format("formatCount", connections));
  assert.equal(await page.textContent("#version"), "bigtable-server " + version);
  const shown = await page.$$eval("#options div", (all) => all.map((pair) => [...pair.children].map((part) => part.textContent)));
  assert.deepEqual(shown, options.map(([name, value]) => [name, value || "–"]));
  assert.ok(shown.some(([name, value]) => name === "--memory" && value === "16777216"));
  await resume();
});

test("no column is cut on a screen of 1400 pixels", async () => {
  await page.setViewportSize({width: 1400, height: 900});
  await page.waitForTimeout(1200);
  const cut = await page.$$eval(".scroll", (all) => all.filter((box) => box.scrollWidth > box.clientWidth)
    .map((box) => box.firstElementChild.id));
  assert.deepEqual(cut, []);
  await page.setViewportSize({width: 1440, height: 900});
});

test("a server that refuses writes says so, and is resumed", async () => {
  assert.ok(await page.isHidden("#resume"));
  assert.equal(await tile("Writers", "value"), "not slowed");
  await page.route("**/status.json*", async (route) => {
    const response = await route.fetch();
    const status = await response.json();
    status.problems = ["Writes or compactions have stopped: no sync"];
    status.can_resume = true;
    status.servers.find((one) => one.label === "user-0").refuses_writes = "no sync";
    await route.fulfill({response, json: status});
  });
  await page.waitForSelector("#resume", {state: "visible"});
  assert.equal(await tile("Writers", "value"), "refused");
  assert.equal(await tile("Writers", "more"), "by user-0: no sync");
  assert.equal((await rowOf("servers", "user-0")).Writers, "refused");
  await screenshot("refused");

  await page.route("**/resume", (route) => route.fulfill({status: 503, body: "the disk is full"}), {times: 1});
  await page.click("#resume");
  await page.waitForFunction(() => document.getElementById("resumed").textContent === "Not resumed: the disk is full");
  errors.splice(0);  // the browser reports the 503
  await page.click("#resume");
  await page.waitForFunction(() => document.getElementById("resumed").textContent === "Resumed.");
  await page.unrouteAll({behavior: "wait"});  // for the status that is on its way
});

test("with tokens, a browser asks for a password, which is the token", async () => {
  const tokens = path.join(directory, "tokens");
  fs.writeFileSync(tokens, "ann the-secret-of-ann\n", {mode: 0o600});
  const other = await startServer("db2", ["--tokens", tokens, "--administrators", "ann"]);
  const refused = await fetch(other.url);
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("www-authenticate"), /^Basic/);
  const ann = await browser.newContext({httpCredentials: {username: "any", password: "the-secret-of-ann"}});
  const hers = await ann.newPage();
  await hers.goto(other.url);
  await hers.waitForFunction(() => document.getElementById("health").textContent === "serving");
  const resumed = await hers.evaluate(async () => {
    await resumeDatabase();
    return document.getElementById("resumed").textContent;
  });
  assert.equal(resumed, "Resumed.");
  await ann.close();
});

test("dark, and on a narrow screen", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.emulateMedia({colorScheme: "dark"});
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  assert.notEqual(await background(), light);
  await page.waitForTimeout(1200);
  await screenshot("dark");
  await page.setViewportSize({width: 400, height: 900});
  await page.waitForTimeout(1200);
  await screenshot("narrow");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(overflow <= 0, "nothing is wider than the screen: " + overflow);
  await page.setViewportSize({width: 1440, height: 900});
});

test("nothing is asked of another host, and no script has failed", () => {
  assert.deepEqual(otherHosts, []);
  assert.deepEqual(errors, []);
});

test("a server that has gone is reported", async () => {
  servers[0].removeAllListeners("exit");
  servers[0].kill("SIGTERM");
  await page.waitForFunction(() => document.getElementById("health").textContent.startsWith("no answer since"));
});
