// Counts of each second of the last five minutes, as stacked areas.

// Colours of series that are drawn one on the other: neighbours differ in light, too.
const METHOD_COLORS = ["#4c8dff", "#9aa5b8", "#f59e0b", "#ef6c4d", "#a77bf3", "#2fb890", "#c9cfd9", "#e86aa6"];
const CODE_COLORS = ["#e5484d", "#f59e0b", "#a77bf3", "#4c8dff", "#e86aa6", "#2fb890", "#c4a484", "#ef6c4d"];
const CLIENT_COLORS = {DEADLINE_EXCEEDED: "#7d8798", CANCELLED: "#b4bcc9"};

// The seconds that the server has sent, from old to new.
class History {
  constructor() {
    this.seconds = [];
  }

  // The first second that is still to be sent: the last one is sent again, in case it was not whole.
  get since() {
    return this.seconds.length === 0 ? 0 : this.seconds[this.seconds.length - 1].time;
  }

  add(seconds) {
    const from = seconds.length === 0 ? Infinity : seconds[0].time;
    this.seconds = this.seconds.filter((second) => second.time < from).concat(seconds).slice(-300);
  }
}

class AreaChart {
  // `seriesOf()` has {name, color, value(second)} for each area, from the bottom to the top.
  constructor(canvas, legend, history, seriesOf, nothing) {
    this.canvas = canvas;
    this.legend = legend;
    this.history = history;
    this.seriesOf = seriesOf;
    this.nothing = nothing;  // what the legend says if there is no series
    this.hover = null;
    canvas.addEventListener("mousemove", (event) => {
      this.hover = event.offsetX;
      this.draw();
    });
    canvas.addEventListener("mouseleave", () => {
      this.hover = null;
      this.draw();
    });
  }

  draw() {
    const {context, width, height} = prepare(this.canvas);
    const seconds = this.history.seconds;
    const series = this.seriesOf().filter(({value}) => seconds.some((second) => value(second) > 0));
    const left = 52, right = 8, top = 8, bottom = 20;
    const inner = {width: width - left - right, height: height - top - bottom};
    const last = this.history.since;
    const sum = (second) => series.reduce((total, {value}) => total + value(second), 0);
    const most = niceMost(Math.max(1, ...seconds.map(sum)));
    const xOf = (time) => left + inner.width * (1 - (last - time) / 299);
    const yOf = (value) => top + inner.height * (1 - value / most);

    context.strokeStyle = themeColor("--line");
    context.fillStyle = themeColor("--muted");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let i = 0; i <= 4; ++i) {
      const y = Math.round(yOf(most * i / 4)) + 0.5;
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(width - right, y);
      context.stroke();
      context.fillText(formatRate(most * i / 4), left - 7, y);
    }
    context.textBaseline = "alphabetic";
    for (let minutes = 0; minutes <= 4; minutes += inner.width > 360 ? 1 : 2) {
      context.textAlign = minutes === 0 ? "right" : "center";
      context.fillText(minutes === 0 ? "now" : minutes + " min ago", xOf(last - minutes * 60), height - 5);
    }

    const base = seconds.map(() => 0);
    for (const {color, value} of series) {
      context.fillStyle = color;
      context.globalAlpha = 0.85;
      context.beginPath();
      seconds.forEach((second, i) => context.lineTo(xOf(second.time), yOf(base[i] + value(second))));
      for (let i = seconds.length - 1; i >= 0; --i) context.lineTo(xOf(seconds[i].time), yOf(base[i]));
      context.closePath();
      context.fill();
      context.globalAlpha = 1;
      seconds.forEach((second, i) => { base[i] += value(second); });
    }
    this.drawLegend(series, this.hovered(context, xOf, top, inner.height, left));
  }

  // The second under the mouse, with a line; otherwise the last.
  hovered(context, xOf, top, height, left) {
    const seconds = this.history.seconds;
    if (seconds.length === 0) return null;
    const last = seconds[seconds.length - 1];
    if (this.hover === null || this.hover < left) return last;
    let nearest = last;
    for (const second of seconds) {
      if (Math.abs(xOf(second.time) - this.hover) < Math.abs(xOf(nearest.time) - this.hover)) nearest = second;
    }
    context.strokeStyle = themeColor("--text");
    context.beginPath();
    context.moveTo(xOf(nearest.time), top);
    context.lineTo(xOf(nearest.time), top + height);
    context.stroke();
    return nearest;
  }

  drawLegend(series, second) {
    const parts = [];
    if (second !== null && this.hover !== null) {
      parts.push(element("span", {class: "muted"}, formatTime(second.time)));
    }
    for (const {name, color, value} of series) {
      const key = element("i", {style: "background:" + color});
      parts.push(element("span", {}, key, name, element("b", {}, formatCount(value(second)))));
    }
    if (parts.length === 0) parts.push(element("span", {class: "muted"}, this.nothing));
    this.legend.replaceChildren(...parts);
  }
}

// Calls that ended with a code of the history's, as areas: errors of the server and of requests, or
// what clients have given up.
function codeSeries(history, areGivenUp) {
  const names = new Set(history.seconds.flatMap((second) => Object.keys(second.codes)));
  names.delete("OK");
  const colors = new Map();
  // A code keeps its colour while others come and go, unless they are many.
  const place = (name) => [...name].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 997, 7) % CODE_COLORS.length;
  return [...names].filter((name) => isGivenUp(name) === areGivenUp).sort().map((name) => {
    let color = CLIENT_COLORS[name];
    for (let i = place(name); color === undefined; ++i) {
      const candidate = CODE_COLORS[i % CODE_COLORS.length];
      if (![...colors.values()].includes(candidate) || colors.size >= CODE_COLORS.length) color = candidate;
    }
    colors.set(name, color);
    return {name, color, value: (second) => second.codes[name] || 0};
  });
}

// The least of 1, 2, 4, 10, 20, 40, ... that is not below the value: its quarters are round.
function niceMost(value) {
  let size = Math.pow(10, Math.floor(Math.log10(value)));
  for (const factor of [1, 2, 4, 6, 8, 10]) {
    if (factor * size >= value) return Math.max(4, factor * size);
  }
  return 10 * size;
}

