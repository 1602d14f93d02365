// Charts as SVG, drawn anew for the width that they have.
(() => {
  "use strict";
  const { s, h, number } = hedgerow;
  const SHAPES = {
    line: (name) => s("path", { class: `line ${name}`, d: "M0 4H24" }),
    bar: (name) => s("rect", { class: `bar ${name}`, x: 6, width: 12, height: 8, rx: 2 }),
    dot: (name) => s("circle", { class: name, cx: 12, cy: 4, r: 3 }),
    cross: (name) => s("path", { class: name, d: "M8.5 .5l7 7m0-7l-7 7" }),
  };

  /** Draw in a host now and whenever its width changes: `draw(width)` returns an element or several. */
  hedgerow.plot = (host, draw) => {
    if (!host) return;
    let last = 0;
    const update = () => {
      const width = Math.round(host.clientWidth);
      if (width > 0 && width !== last) {
        last = width;
        host.replaceChildren(...[draw(width)].flat());
      }
    };
    update();
    new ResizeObserver(update).observe(host);
  };

  function ticks(low, high, most) {
    const span = high - low || 1;
    const raw = span / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((one) => span / one <= most) ?? 10 * power;
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) found.push(Number((at * step).toPrecision(12)));
    return found;
  }
  hedgerow.ticks = ticks;

  /** Axes: {width, height, x: [low, high], y: [low, high], xTitle, yTitle, label, log, square}. */
  hedgerow.frame = ({ width, height, x, y, xTitle, yTitle, label, log = false, percent = false, xTicks }) => {
    const write = (value) => (percent ? `${number(100 * value, 3)}%` : number(value, 4));
    const right = 12, top = 10, bottom = 40;
    const yTicks = ticks(y[0], y[1], (height - top - bottom) / 40);
    const left = 24 + Math.max(...yTicks.map((value) => hedgerow.widthOf(write(value), 11)));
    const inner = { width: width - left - right, height: height - top - bottom };
    const fx = log ? Math.log10 : (value) => value;
    const sx = (value) => left + ((fx(value) - fx(x[0])) / (fx(x[1]) - fx(x[0]) || 1)) * inner.width;
    const sy = (value) => top + (1 - (value - y[0]) / (y[1] - y[0] || 1)) * inner.height;
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    for (const value of yTicks) {
      svg.append(s("line", { class: "grid", x1: left, x2: left + inner.width, y1: sy(value), y2: sy(value) }));
      svg.append(s("text", { class: "tick", x: left - 6, y: sy(value) + 4, "text-anchor": "end", text: write(value) }));
    }
    for (const value of xTicks ?? ticks(x[0], x[1], inner.width / 64)) {
      svg.append(s("line", { class: "axis", x1: sx(value), x2: sx(value), y1: top + inner.height, y2: top + inner.height + 4 }));
      const text = percent && !log ? `${number(100 * value, 3)}%` : number(value, 4);
      svg.append(s("text", { class: "tick", x: sx(value), y: top + inner.height + 16, "text-anchor": "middle", text }));
    }
    svg.append(s("line", { class: "axis", x1: left, x2: left + inner.width, y1: top + inner.height, y2: top + inner.height }));
    if (xTitle) svg.append(s("text", { class: "axis-title", x: left + inner.width / 2, y: height - 4, "text-anchor": "middle", text: xTitle }));
    if (yTitle) {
      const middle = top + inner.height / 2;
      svg.append(s("text", { class: "axis-title", x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})`, text: yTitle }));
    }
    return { svg, sx, sy, left, top, inner, bottom: top + inner.height };
  };

  hedgerow.path = (xs, ys) => xs.map((x, i) => `${i ? "L" : "M"}${x.toFixed(1)} ${ys[i].toFixed(1)}`).join("");

  /** A key: [[class, text, shape], …] with the shape "line", "bar", "dot" or "cross". */
  hedgerow.series = (entries) =>
    h("ul", { class: "series" }, entries.map(([name, text, shape = "line"]) => h("li", null,
      s("svg", { viewBox: "0 0 24 8", width: 24, height: 8, "aria-hidden": "true" },
        SHAPES[shape](name)),
      text)));

  /** Horizontal bars with names at their left: rows of {name, value, low, high, text, class}. */
  hedgerow.bars = ({ width, rows, label, low = 0, high, zero = 0, title }) => {
    const longest = Math.max(...rows.map((row) => row.name.length));
    const names = Math.min(width * 0.42, 7 * longest + 12);
    const right = 64, step = 24, top = title ? 4 : 2;
    const height = top + rows.length * step + 4;
    const sx = (value) => names + ((value - low) / (high - low || 1)) * (width - names - right);
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    svg.append(s("line", { class: "axis", x1: sx(zero), x2: sx(zero), y1: top, y2: height - 4 }));
    rows.forEach((row, i) => {
      const y = top + i * step;
      const a = sx(Math.min(zero, row.value)), b = sx(Math.max(zero, row.value));
      const name = hedgerow.shortened(row.name, Math.floor(names / 6.6));
      const end = Math.max(b, row.high === undefined ? b : sx(Math.min(high, row.high)));
      svg.append(
        s("g", { class: row.class ?? "" },
          s("title", { text: `${row.name}: ${row.text}` }),
          s("text", { class: "row-name", x: names - 8, y: y + 16, "text-anchor": "end", text: name }),
          s("rect", { class: row.bar ?? (row.low === undefined ? "bar" : "bar pale"), x: a, y: y + 5, width: Math.max(0.5, b - a), height: step - 10, rx: 2 }),
          row.low === undefined ? null : s("line", { class: "range", x1: sx(Math.max(low, row.low)), x2: sx(Math.min(high, row.high)), y1: y + step / 2, y2: y + step / 2 }),
          s("text", { class: "value", x: end + 6, y: y + 16, text: row.text }),
        ),
      );
    });
    return svg;
  };
})();
