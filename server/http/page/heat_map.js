// The key heat map: time from left to right, key ranges from top to bottom, and as colour the rows
// that were read or written in a second.

// From little to much: each is lighter than the one before it.
const HEAT_STOPS = [
  [27, 12, 65], [74, 12, 107], [120, 28, 109], [165, 44, 96], [207, 68, 70],
  [237, 105, 37], [251, 155, 6], [247, 209, 61], [252, 255, 164]];

// `share` is from 0 to 1.
function heatColor(share) {
  const place = Math.min(Math.max(share, 0), 1) * (HEAT_STOPS.length - 1);
  const below = Math.min(Math.floor(place), HEAT_STOPS.length - 2);
  const mix = (a, b) => Math.round(a + (b - a) * (place - below));
  const parts = HEAT_STOPS[below].map((value, i) => mix(value, HEAT_STOPS[below + 1][i]));
  return "rgb(" + parts.join(",") + ")";
}

class HeatMap {
  constructor() {
    this.canvas = byId("heat-canvas");
    this.readout = byId("heat-readout");
    this.select = byId("heat-table");
    this.what = "reads";
    this.span = 60;
    this.columnSeconds = 5;
    this.table = "";
    this.tables = [];
    this.begins = [];
    this.columns = new Map();
    this.epoch = 0;
    this.now = 0;
    this.mouse = null;
    this.listen();
    this.drawScale();
  }

  listen() {
    for (const what of ["reads", "writes"]) {
      byId("heat-" + what).addEventListener("click", (event) => {
        press(event.currentTarget);
        this.what = what;
        this.draw();
      });
    }
    for (const button of document.querySelectorAll("#heat [data-span]")) {
      button.addEventListener("click", () => {
        press(button);
        this.span = Number(button.dataset.span);
        this.draw();
      });
    }
    this.select.addEventListener("change", () => {
      this.forget(this.select.value);
      this.onTable();
    });
    this.canvas.addEventListener("mousemove", (event) => {
      this.mouse = {x: event.offsetX, y: event.offsetY};
      this.draw();
    });
    this.canvas.addEventListener("mouseleave", () => {
      this.mouse = null;
      this.draw();
    });
  }

  onTable() {}

  forget(table) {
    this.table = table;
    this.begins = [];
    this.columns.clear();
    this.epoch = 0;
  }

  // What is to be sent: the last column again, since it was not over.
  get query() {
    const numbers = [...this.columns.keys()];
    const from = numbers.length === 0 ? 0 : Math.max(...numbers);
    return {table: this.table, epoch: String(this.epoch), from: String(from)};
  }

  update(heat, now) {
    this.now = now;
    this.columnSeconds = heat.column_seconds;
    this.showTables(heat.tables);
    if (heat.table !== undefined && (heat.table === this.table || this.table === "")) {
      this.table = heat.table;
      this.select.value = heat.table;
      if (heat.is_whole) this.columns.clear();
      this.begins = heat.begins;
      this.epoch = heat.epoch;
      for (const column of heat.columns) this.columns.set(column.number, column);
      for (const number of this.columns.keys()) {
        if (number < this.lastColumn - 400) this.columns.delete(number);
      }
    }
    this.draw();
  }

  get lastColumn() {
    return Math.floor(this.now / this.columnSeconds);
  }

  showTables(tables) {
    if (tables.join("\n") === this.tables.join("\n")) return;
    this.tables = tables;
    this.select.replaceChildren(...tables.map((name) => element("option", {value: name}, name)));
    if (tables.includes(this.table)) {
      this.select.value = this.table;
    } else {
      this.forget("");
    }
  }

  // Rows a second. Of the present column, only a part is over.
  rate(column, range, what = this.what) {
    const age = this.now - column.number * this.columnSeconds;
    return column[what][range] / Math.min(Math.max(age, 1), this.columnSeconds);
  }

  most() {
    let most = 0;
    for (const column of this.columns.values()) {
      if (column.number <= this.lastColumn - this.span) continue;
      for (let range = 0; range < this.begins.length; ++range) most = Math.max(most, this.rate(column, range));
    }
    return most;
  }

  // Small values are told apart better than large ones.
  share(rate, most) {
    return Math.sqrt(rate / most);
  }

  layout(width, height) {
    const left = Math.min(190, width * 0.25);
    return {left, top: 2, width: width - left - 2, height: height - 24};
  }

  draw() {
    const {context, width, height} = prepare(this.canvas);
    const inner = this.layout(width, height);
    const most = this.most();
    context.fillStyle = themeColor("--empty");
    context.fillRect(inner.left, inner.top, inner.width, inner.height);
    const first = this.lastColumn - this.span + 1;
    const xOf = (number) => inner.left + inner.width * (number - first) / this.span;
    const yOf = (range) => inner.top + inner.height * range / this.begins.length;
    for (const column of this.columns.values()) {
      if (column.number < first) continue;
      const x = xOf(column.number);
      for (let range = 0; range < this.begins.length; ++range) {
        const rate = this.rate(column, range);
        if (rate === 0) continue;
        context.fillStyle = heatColor(this.share(rate, most));
        // Half a pixel more, so that there is no gap between neighbours.
        context.fillRect(x, yOf(range), xOf(column.number + 1) - x + 0.5, yOf(range + 1) - yOf(range) + 0.5);
      }
    }
    this.drawKeys(context, inner, yOf);
    this.drawTimes(context, inner, height, first, xOf);
    byId("heat-most").textContent = formatRate(most) + " rows/s";
    this.drawHover(context, inner, first, xOf, yOf);
  }

  // As many first keys of ranges as there is room for.
  drawKeys(context, inner, yOf) {
    context.fillStyle = themeColor("--muted");
    context.textAlign = "right";
    context.textBaseline = "top";
    let free = 0;
    for (let range = 0; range < this.begins.length; ++range) {
      const y = yOf(range);
      if (y < free) continue;
      context.fillText(fitText(context, this.begins[range] || "(first row)", inner.left - 12), inner.left - 8, y);
      context.fillRect(inner.left - 5, Math.round(y), 4, 1);
      free = y + 22;
    }
    if (this.begins.length === 0) {
      context.textAlign = "center";
      context.fillText("no rows were read or written in the last half hour", inner.left + inner.width / 2, inner.top + inner.height / 2);
    }
  }

  drawTimes(context, inner, height, first, xOf) {
    context.textBaseline = "alphabetic";
    context.fillStyle = themeColor("--muted");
    const steps = [6, 5, 4, 3, 2, 1].find((count) => this.span % count === 0 && inner.width / count > 110) || 1;
    for (let i = 0; i <= steps; ++i) {
      const number = first + Math.round(this.span * i / steps);
      context.textAlign = i === 0 ? "left" : i === steps ? "right" : "center";
      context.fillText(formatTime(number * this.columnSeconds), xOf(number), height - 6);
    }
  }

  drawHover(context, inner, first, xOf, yOf) {
    const hit = this.hit(inner, first);
    if (hit === null) {
      this.readout.textContent = this.begins.length === 0 ? ""
        : this.begins.length + " key ranges of " + this.table + ". Point at the map for a range and its rate.";
      return;
    }
    context.strokeStyle = "#ffffff";
    context.lineWidth = 1.5;
    context.strokeRect(xOf(hit.number), yOf(hit.range), xOf(hit.number + 1) - xOf(hit.number), yOf(hit.range + 1) - yOf(hit.range));
    const column = this.columns.get(hit.number);
    const rateOf = (what) => column === undefined ? 0 : this.rate(column, hit.range, what);
    const begin = this.begins[hit.range];
    const end = hit.range + 1 < this.begins.length ? this.begins[hit.range + 1] : null;
    const from = hit.number * this.columnSeconds;
    this.readout.replaceChildren(
      element("b", {"data-what": "reads"}, formatRate(rateOf("reads"))), " rows read/s, ",
      element("b", {"data-what": "writes"}, formatRate(rateOf("writes"))), " written/s  ·  keys ",
      element("b", {"data-what": "range"}, formatRange(begin, end)), "  ·  ",
      formatTime(from) + " – " + formatTime(from + this.columnSeconds));
  }

  // The cell under the mouse.
  hit(inner, first) {
    if (this.mouse === null || this.begins.length === 0) return null;
    const x = (this.mouse.x - inner.left) / inner.width;
    const y = (this.mouse.y - inner.top) / inner.height;
    if (x < 0 || x >= 1 || y < 0 || y >= 1) return null;
    return {number: first + Math.floor(x * this.span), range: Math.floor(y * this.begins.length)};
  }

  drawScale() {
    const {context, width, height} = prepare(document.querySelector("#heat-scale canvas"));
    for (let x = 0; x < width; ++x) {
      context.fillStyle = heatColor(x / width);
      context.fillRect(x, 0, 1, height);
    }
  }
}

// The text, or the end of it with an ellipsis: keys differ at their ends.
function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let from = 1;
  while (from < text.length && context.measureText("…" + text.slice(from)).width > width) from += 1;
  return "…" + text.slice(from);
}

