// Tables of the page: rows are updated in place, so that a selection or a scroll position stays,
// and sorted by the column whose head was clicked.

// A column: {title, value(row), text(value, row), kind, hint}. `kind` is the class of its cells;
// "number" is sorted from large to small first. `fill(cell, row)` draws a cell instead of `text`.
class DataTable {
  constructor(id, keyOf, columns, order = null) {
    this.table = byId(id);
    this.keyOf = keyOf;
    this.columns = columns;
    this.order = order;  // {column, down}; null: as the rows come
    this.rows = new Map();
    this.data = [];
    this.body = element("tbody");
    this.table.replaceChildren(element("thead", {}, this.makeHead()), this.body);
    this.showOrder();
  }

  makeHead() {
    const head = element("tr");
    this.columns.forEach((column, i) => {
      const cell = element("th", {scope: "col", class: column.kind || "", title: column.hint || ""}, column.title);
      cell.addEventListener("click", () => {
        const down = this.order !== null && this.order.column === i ? !this.order.down : column.kind === "number";
        this.order = {column: i, down};
        this.showOrder();
        this.update(this.data);
      });
      head.append(cell);
    });
    return head;
  }

  showOrder() {
    this.table.querySelectorAll("th").forEach((cell, i) => {
      cell.removeAttribute("aria-sort");
      if (this.order !== null && this.order.column === i) {
        cell.setAttribute("aria-sort", this.order.down ? "descending" : "ascending");
      }
    });
  }

  sorted(data) {
    if (this.order === null) return data;
    const value = this.columns[this.order.column].value;
    const sign = this.order.down ? -1 : 1;
    const number = (row) => {
      const found = value(row);
      return typeof found === "number" && !Number.isFinite(found) ? -1 : found;
    };
    return [...data].sort((a, b) => {
      const left = number(a), right = number(b);
      return left < right ? -sign : left > right ? sign : 0;
    });
  }

  update(data) {
    this.data = data;
    const kept = new Set();
    let place = this.body.firstElementChild;
    for (const row of this.sorted(data)) {
      const key = String(this.keyOf(row));
      kept.add(key);
      let line = this.rows.get(key);
      if (line === undefined) {
        line = element("tr", {"data-key": key}, ...this.columns.map((column) => element("td", {class: column.kind || ""})));
        this.rows.set(key, line);
      }
      this.columns.forEach((column, i) => this.fill(line.children[i], column, row));
      if (line === place) {
        place = place.nextElementSibling;
      } else {
        this.body.insertBefore(line, place);
      }
    }
    for (const [key, line] of this.rows) {
      if (kept.has(key)) continue;
      line.remove();
      this.rows.delete(key);
    }
  }

  fill(cell, column, row) {
    if (column.fill !== undefined) {
      column.fill(cell, row);
      return;
    }
    const value = column.value(row);
    const text = column.text === undefined ? String(value) : column.text(value, row);
    if (cell.textContent !== text) {
      cell.textContent = text;
      if (column.kind === "key" || column.kind === "text") cell.title = text;
    }
    if (column.mark !== undefined) cell.className = ((column.kind || "") + " " + column.mark(value, row)).trim();
  }
}

// A number that is drawn as a bar too, as a share of the largest.
function loadColumn(title, value, most, hint) {
  return {
    title, value, hint, kind: "number",
    fill(cell, row) {
      const rate = value(row);
      if (cell.firstElementChild === null) {
        cell.append(element("span", {class: "load"}, element("i")), document.createTextNode(""));
      }
      const share = Number.isFinite(rate) && most() > 0 ? Math.min(1, rate / most()) : 0;
      cell.firstElementChild.firstElementChild.style.width = (100 * share).toFixed(0) + "%";
      cell.lastChild.textContent = formatRate(rate);
    },
  };
}

// Where the time of a request went.
const TIME_PARTS = [
  ["admission", "received, waiting for memory", "#b8860b"],
  ["reading", "taking the request apart", "#14b8c4"], ["stall", "stalled", "#e5484d"], ["queue", "queue", "#f59e0b"],
  ["log", "log", "#4c8dff"], ["sync", "sync", "#7c5cff"], ["memtable", "memtable", "#2fb890"],
  ["blocks", "blocks of files", "#e86aa6"], ["other", "engine, other", "#c4a484"],
  ["converting", "making the response", "#86b817"], ["client", "waiting for the client to read", "#9aa5b8"]];

function fillTimes(cell, row) {
  const parts = TIME_PARTS.filter(([name]) => row.times[name] > 0);
  const text = parts.map(([name, title]) => title + " " + formatSeconds(row.times[name])).join(", ");
  if (cell.title === text) return;
  cell.title = text;
  const sum = parts.reduce((total, [name]) => total + row.times[name], 0);
  cell.replaceChildren(element("div", {class: "times-bar"}, ...parts.map(([name, , color]) =>
    element("i", {style: "background:" + color + ";width:" + (100 * row.times[name] / sum).toFixed(2) + "%"}))));
}

