// Values as text. All numbers of a kind have the same form, so that they align.

function formatCount(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e9) return (value / 1e9).toFixed(2) + " G";
  if (size >= 1e6) return (value / 1e6).toFixed(2) + " M";
  if (size >= 1e5) return (value / 1e3).toFixed(0) + " k";
  return Math.round(value).toLocaleString("en-US");
}

// A rate; below ten with a decimal.
function formatRate(value) {
  if (!Number.isFinite(value)) return "–";
  return value > 0 && value < 9.95 ? value.toFixed(1) : formatCount(value);
}

function formatBytes(value) {
  if (!Number.isFinite(value)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return (unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)) + " " + units[unit];
}

function formatSeconds(value) {
  if (!Number.isFinite(value)) return "–";
  if (value <= 0) return "0";
  if (value < 0.9995e-3) return (value * 1e6).toFixed(value < 1e-4 ? 1 : 0) + " µs";
  if (value < 0.9995) return (value * 1e3).toFixed(value < 0.1 ? 2 : 0) + " ms";
  if (value < 100) return value.toFixed(2) + " s";
  return formatSpan(value);
}

// A long time.
function formatSpan(seconds) {
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  let text = "";
  let count = 0;
  let rest = Math.max(0, Math.floor(seconds));
  for (const [size, name] of parts) {
    if ((rest >= size || (size === 1 && count === 0)) && count < 2) {
      text += (text ? " " : "") + Math.floor(rest / size) + " " + name;
      rest %= size;
      count += 1;
    }
  }
  return text;
}

// Whether a code says that the client did not wait for the answer: no error of the server.
function isGivenUp(code) {
  return code === "CANCELLED" || code === "DEADLINE_EXCEEDED";
}

function plural(count, name) {
  return formatCount(count) + " " + name + (count === 1 ? "" : "s");
}

function formatTime(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

// Key ranges: the last of a table has no end.
function formatRange(begin, end) {
  if (begin === "" && end === null) return "all rows";
  return (begin === "" ? "first" : begin) + " … " + (end === null ? "last" : end);
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

// A colour of the style sheet.
function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Presses one of a group's buttons.
function press(button) {
  for (const other of button.parentElement.children) {
    other.setAttribute("aria-pressed", String(other === button));
  }
}

// Prepares a canvas for drawing in CSS pixels; returns its context and size.
function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  return {context, width, height};
}

