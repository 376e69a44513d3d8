// Calls a second by method: stacked areas over the last five minutes.

const METHOD_COLORS = ["#4c8dff", "#9aa5b8", "#f59e0b", "#ef6c4d", "#a77bf3", "#2fb890", "#c9cfd9", "#e86aa6"];

class CallsChart {
  constructor(canvas, legend) {
    this.canvas = canvas;
    this.legend = legend;
    this.seconds = [];
    this.names = [];
    this.hover = null;
    canvas.style.height = "200px";
    canvas.addEventListener("mousemove", (event) => {
      this.hover = event.offsetX;
      this.draw();
    });
    canvas.addEventListener("mouseleave", () => {
      this.hover = null;
      this.draw();
    });
  }

  // The first second that is still to be sent: the last one is sent again, in case it was not whole.
  get since() {
    return this.seconds.length === 0 ? 0 : this.seconds[this.seconds.length - 1].time;
  }

  update(names, history) {
    this.names = names;
    const from = history.length === 0 ? Infinity : history[0].time;
    this.seconds = this.seconds.filter((second) => second.time < from).concat(history).slice(-300);
    this.draw();
  }

  draw() {
    const {context, width, height} = prepare(this.canvas);
    const left = 52, right = 8, top = 8, bottom = 20;
    const inner = {width: width - left - right, height: height - top - bottom};
    const last = this.seconds.length === 0 ? 0 : this.seconds[this.seconds.length - 1].time;
    const sum = (second) => second.calls.reduce((a, b) => a + b, 0);
    const most = niceMost(Math.max(1, ...this.seconds.map(sum)));
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

    const base = this.seconds.map(() => 0);
    for (let method = 0; method < this.names.length; ++method) {
      if (!this.seconds.some((second) => second.calls[method] > 0)) continue;
      context.fillStyle = METHOD_COLORS[method];
      context.globalAlpha = 0.85;
      context.beginPath();
      this.seconds.forEach((second, i) => context.lineTo(xOf(second.time), yOf(base[i] + second.calls[method])));
      for (let i = this.seconds.length - 1; i >= 0; --i) context.lineTo(xOf(this.seconds[i].time), yOf(base[i]));
      context.closePath();
      context.fill();
      context.globalAlpha = 1;
      this.seconds.forEach((second, i) => { base[i] += second.calls[method]; });
    }
    this.drawLegend(this.hovered(context, xOf, top, inner.height, left));
  }

  // The second under the mouse, with a line; otherwise the last.
  hovered(context, xOf, top, height, left) {
    if (this.seconds.length === 0) return null;
    const last = this.seconds[this.seconds.length - 1];
    if (this.hover === null || this.hover < left) return last;
    let nearest = last;
    for (const second of this.seconds) {
      if (Math.abs(xOf(second.time) - this.hover) < Math.abs(xOf(nearest.time) - this.hover)) nearest = second;
    }
    context.strokeStyle = themeColor("--text");
    context.beginPath();
    context.moveTo(xOf(nearest.time), top);
    context.lineTo(xOf(nearest.time), top + height);
    context.stroke();
    return nearest;
  }

  drawLegend(second) {
    const parts = [];
    if (second !== null && this.hover !== null) {
      parts.push(element("span", {class: "muted"}, formatTime(second.time)));
    }
    this.names.forEach((name, i) => {
      if (!this.seconds.some((other) => other.calls[i] > 0)) return;
      const key = element("i", {style: "background:" + METHOD_COLORS[i]});
      parts.push(element("span", {}, key, name, element("b", {}, formatCount(second.calls[i]))));
    });
    if (parts.length === 0) parts.push(element("span", {class: "muted"}, "no calls yet"));
    this.legend.replaceChildren(...parts);
  }
}

// The least of 1, 2, 4, 10, 20, 40, ... that is not below the value: its quarters are round.
function niceMost(value) {
  let size = Math.pow(10, Math.floor(Math.log10(value)));
  for (const factor of [1, 2, 4, 6, 8, 10]) {
    if (factor * size >= value) return Math.max(4, factor * size);
  }
  return 10 * size;
}

