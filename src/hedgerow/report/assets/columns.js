// Importance of columns, and a card for each column.
(() => {
  "use strict";
  const { s, h, byId, plot, bars, number, percent, counted } = hedgerow;
  const FIRST = 24;
  const MOST_BARS = 25;

  hedgerow.startColumns = ({ figures }) => {
    const order = byImportance(figures);
    importance(figures, order);
    cards(figures, order);
  };

  function byImportance(figures) {
    const score = figures.importance?.mean ?? figures.columns.map((column) => column.alone ?? 0);
    return figures.columns.map((_, j) => j).toSorted((a, b) => (score[b] ?? 0) - (score[a] ?? 0) || a - b);
  }

  function importance(figures, order) {
    const found = figures.importance;
    if (!found) return;
    const shown = order.slice(0, MOST_BARS);
    plot(byId("importance"), (width) => {
      const rows = shown.map((j) => {
        const mean = found.mean[j] ?? 0, error = found.standard_error[j] ?? 0;
        return { name: figures.columns[j].name, value: mean, low: mean - 2 * error, high: mean + 2 * error, text: number(mean, 2) };
      });
      const low = Math.min(0, ...rows.map((row) => row.low)), high = Math.max(1e-9, ...rows.map((row) => row.high));
      const chart = bars({ width, rows, low, high, label: "Importance: " + rows.slice(0, 10).map((row) => `${row.name} ${row.text}`).join("; ") });
      const rest = order.length - shown.length;
      return rest > 0 ? [chart, h("p", { class: "confused" }, `and ${counted(rest, "column")} below`)] : chart;
    });
  }

  function cards(figures, order) {
    const list = byId("columns-list"), tools = byId("columns-tools");
    let wanted = "", warned = false, all = false;
    const n_warned = figures.columns.filter((column) => column.warnings.length).length;
    const more = h("button", { class: "button more", type: "button", on: { click: () => { all = true; draw(); } } });
    const status = h("span", { class: "confused", role: "status" });
    const draw = () => {
      const found = order.filter((j) => (!warned || figures.columns[j].warnings.length) && figures.columns[j].name.toLowerCase().includes(wanted));
      const shown = all ? found : found.slice(0, FIRST);
      list.replaceChildren(...shown.map((j) => card(figures, j)));
      more.hidden = shown.length === found.length;
      more.textContent = `Show all ${number(found.length)} columns`;
      status.textContent = found.length === order.length ? "" : `${counted(found.length, "column")}`;
    };
    if (order.length > 8) {
      tools.append(h("input", { type: "search", placeholder: "Find a column", "aria-label": "Find a column", on: { input: (event) => { wanted = event.target.value.trim().toLowerCase(); draw(); } } }));
    }
    if (n_warned) {
      const chip = h("button", { class: "chip", type: "button", "aria-pressed": "false", on: { click: () => { warned = !warned; chip.setAttribute("aria-pressed", warned); draw(); } } }, "with warnings", h("small", null, n_warned));
      tools.append(chip);
    }
    tools.append(status);
    list.after(more);
    draw();
  }

  function card(figures, j) {
    const column = figures.columns[j];
    const n = figures.n_rows;
    const facts = [column.kind, column.categories ? counted(column.distinct, "category", "categories") : `${number(column.distinct)} values`];
    if (column.missing) facts.push(`${percent(column.missing / n)} missing`);
    facts.push(`alone ${percent(column.alone, 0)}`);
    const host = h("div", { class: "plot" });
    const element = h("article", { class: "card" }, h("h4", { title: column.name }, column.name), h("p", { class: "facts" }, facts.join(" · ")), host,
      column.quantiles ? h("div", { class: "ends" }, h("span", null, number(column.quantiles[0])), h("span", null, `median ${number(column.quantiles[2])}`), h("span", null, number(column.quantiles[4]))) : null,
      column.warnings.map((warning) => h("p", { class: "warning" }, `⚠ ${warning.text}`)));
    if (column.counts?.length) host.append(column.categories ? categoryBars(figures, column) : histogram(figures, column));
    return element;
  }

  function histogram(figures, column) {
    const width = 230, height = 64, { counts } = column;
    const totals = counts.map((bin) => bin.reduce((a, b) => a + b, 0)), most = Math.max(...totals, 1);
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Histogram of ${column.name} from ${number(column.quantiles[0])} to ${number(column.quantiles[4])}` });
    const step = width / counts.length;
    counts.forEach((bin, i) => {
      const from = column.edges[i], to = column.edges[i + 1] ?? from;
      const group = s("g", null, s("title", { text: `${number(from)} to ${number(to)}: ${counted(totals[i], "row")}` }));
      let y = height;
      bin.forEach((count, code) => {
        const tall = (count / most) * (height - 2);
        if (count) group.append(s("rect", { class: bin.length > 1 ? `bar c${code}` : "bar", x: i * step + 0.5, y: (y -= tall), width: Math.max(1, step - 1), height: tall }));
      });
      svg.append(group);
    });
    svg.append(s("line", { class: "axis", x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }));
    return svg;
  }

  function categoryBars(figures, column) {
    const entries = column.categories.map((name, i) => [name, column.counts[i]]);
    if (column.others) entries.push([`${counted(column.others, "other")}`, column.other_counts]);
    const shown = entries.slice(0, 7);
    if (entries.length > 7) {
      const rest = entries.slice(6);
      shown.splice(6, 1, [`${counted(rest.length - (column.others ? 1 : 0) + (column.others ?? 0), "other")}`, rest.map(([, bin]) => bin).reduce((a, b) => a.map((x, i) => x + b[i]))]);
    }
    const totals = shown.map(([, bin]) => bin.reduce((a, b) => a + b, 0)), most = Math.max(...totals, 1);
    const width = 230, step = 17;
    const svg = s("svg", { viewBox: `0 0 ${width} ${shown.length * step}`, role: "img", "aria-label": `Categories of ${column.name}: ` + shown.map(([name], i) => `${name} ${totals[i]}`).join(", ") });
    shown.forEach(([name, bin], i) => {
      const group = s("g", null, s("title", { text: `${name}: ${counted(totals[i], "row")}` }), s("text", { class: "tick", x: 88, y: i * step + 12, "text-anchor": "end", text: hedgerow.shortened(name, 14) }));
      let x = 94;
      bin.forEach((count, code) => {
        const wide = (count / most) * (width - 94);
        if (count) group.append(s("rect", { class: bin.length > 1 ? `bar c${code}` : "bar", x, y: i * step + 3, width: Math.max(0.5, wide), height: step - 6 }));
        x += wide;
      });
      svg.append(group);
    });
    return svg;
  }
})();
