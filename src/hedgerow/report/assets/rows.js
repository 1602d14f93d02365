// Rows in doubt: a table that sorts, filters, and opens each row to its explanation.
(() => {
  "use strict";
  const { s, h, byId, plot, number, percent, counted, label, cell } = hedgerow;
  const PAGE = 20;
  const NAMES = { undecided: "several classes left", mistake: "decided, but wrong", missing: "values missing", outside: "truth outside its interval" };
  let data, items, filter = null, sort = { by: "doubt", way: -1 }, shown = PAGE;
  const opened = new Set();
  const narrow = matchMedia("(max-width: 600px)"); // two columns are hidden there

  hedgerow.startRows = (all) => {
    data = all;
    items = data.rows?.items ?? [];
    if (!byId("rows-list") || !items.length) return;
    chips();
    draw();
    narrow.addEventListener("change", draw);
  };

  const mainReason = (item) => item.reasons[0];
  const reasons = (item) => [...(item.reasons.length ? [mainReason(item).name] : []), ...(item.tags ?? [])];

  function chips() {
    const counts = new Map();
    for (const item of items) for (const reason of reasons(item)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    if (counts.size < 2 && ![...counts.values()].some((n) => n < items.length)) return;
    const all = [];
    const chip = (reason, text, n) => {
      const element = h("button", { class: "chip", type: "button", "aria-pressed": String(filter === reason), on: { click: () => {
        filter = reason;
        shown = PAGE;
        all.forEach(([other, one]) => other.setAttribute("aria-pressed", String(one === filter)));
        draw();
      } } }, text, h("small", null, n));
      all.push([element, reason]);
      return element;
    };
    byId("rows-tools").append(chip(null, "all", items.length), ...[...counts].sort((a, b) => b[1] - a[1]).map(([reason, n]) => chip(reason, NAMES[reason] ?? reason, n)));
  }

  const classes = () => data.figures.task === "classification";
  const values = {
    row: (item) => item.row,
    truth: (item) => item.truth,
    answer: (item) => item.answer,
    sure: (item) => (classes() ? Math.max(...item.probabilities) : (item.interval ? item.interval[1] - item.interval[0] : 0)),
    doubt: (item) => item.doubt,
  };

  function draw() {
    const found = items.map((item, i) => [item, i]).filter(([item]) => filter === null || reasons(item).includes(filter));
    found.sort((a, b) => sort.way * (values[sort.by](a[0]) - values[sort.by](b[0])) || a[1] - b[1]);
    const head = (by, text, extra) => h("th", { scope: "col", class: extra, "aria-sort": sort.by === by ? (sort.way > 0 ? "ascending" : "descending") : "none" },
      h("button", { type: "button", on: { click: () => { sort = { by, way: sort.by === by ? -sort.way : by === "row" ? 1 : -1 }; draw(); byId("rows-list").querySelector(`[data-sort="${by}"]`)?.focus(); } }, "data-sort": by }, text));
    const body = h("tbody", null, found.slice(0, shown).map(([item, i]) => lines(item, i)));
    const table = h("table", { class: "table rows-table" },
      h("thead", null, h("tr", null, head("row", "row"), head("answer", "answer"), head("truth", "truth"), head("sure", classes() ? "probabilities" : "interval", "hide-small"), head("doubt", classes() ? "doubt" : widthName()), h("th", { scope: "col", class: "hide-small" }, "why"))), body);
    const more = found.length > shown ? h("button", { class: "button more", type: "button", on: { click: () => { shown += 5 * PAGE; draw(); } } }, `Show ${Math.min(5 * PAGE, found.length - shown)} more of ${found.length}`) : null;
    byId("rows-list").replaceChildren(h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows in doubt" }, table), ...(more ? [more] : []));
  }

  function lines(item, i) {
    const id = `row-detail-${i}`;
    const detail = h("tr", { hidden: !opened.has(i) }, h("td", { class: "detail-cell", colspan: narrow.matches ? 4 : 6, id }));
    const button = h("button", { class: "open-row", type: "button", "aria-expanded": String(opened.has(i)), "aria-controls": id, on: { click: () => {
      opened.has(i) ? opened.delete(i) : opened.add(i);
      button.setAttribute("aria-expanded", String(opened.has(i)));
      detail.hidden = !opened.has(i);
      if (opened.has(i)) fill(detail.firstChild, item, i);
    } } }, item.label);
    const answer = classes() ? h("td", null, (item.set ?? [item.answer]).length > 1 ? stack(item.set.toSorted((a, b) => item.probabilities[b] - item.probabilities[a])) : label(item.answer)) : h("td", null, number(item.answer));
    const truth = classes() ? h("td", null, label(item.truth)) : h("td", null, number(item.truth));
    const sure = classes() ? h("td", { class: "hide-small" }, bounds(item)) : h("td", { class: "hide-small" }, item.interval ? `${number(item.interval[0])} to ${number(item.interval[1])}` : "–");
    if (opened.has(i)) fill(detail.firstChild, item, i);
    return [h("tr", null, h("th", { scope: "row" }, button), answer, truth, sure, h("td", null, classes() ? percent(item.doubt, 0) : number(item.doubt, 3)), h("td", { class: "why hide-small" }, why(item))), detail];
  }

  const widthName = () => (items[0].interval ? "width" : "error");

  function why(item) {
    const reason = mainReason(item);
    return reason ? [h("b", null, reason.name), ` ${percent(reason.share, 0)}: ${reason.text}`] : (item.why ?? "");
  }

  // Shares of the reasons for doubt, and what would help.
  function reasonBars(item) {
    return h("div", null, h("h4", null, "Why in doubt"), h("ul", { class: "reasons" }, item.reasons.map((one) => h("li", null,
      h("div", null, h("b", null, one.name), h("span", null, percent(one.share, 0))),
      s("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, s("rect", { class: "track", width: 100, height: 6 }), s("rect", { class: "bar", width: 100 * one.share, height: 6 })),
      h("p", null, `${one.text}. ${one.remedy}.`)))));
  }

  const MOST_LABELS = 4;
  const stack = (codes) => h("span", null, codes.slice(0, MOST_LABELS).map((code, i) => [i ? " or " : "", label(code)]), codes.length > MOST_LABELS ? ` or ${codes.length - MOST_LABELS} more` : "");

  // Probability of each class as a stacked bar, or its bounds.
  function bounds(item) {
    const width = 120, height = 12;
    const svg = s("svg", { class: "bars", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": item.probabilities.map((p, code) => [p, data.figures.classes[code]]).filter(([p]) => p > 0.005).map(([p, name]) => `${name} ${percent(p, 0)}`).join(", ") });
    let x = 0;
    item.probabilities.forEach((p, code) => {
      if (p > 0) svg.append(s("rect", { class: `bar c${code}`, x, y: 1, width: Math.max(0.3, p * width - 0.7), height: height - 2 }, s("title", { text: `${data.figures.classes[code]} ${percent(p)}` })));
      x += p * width;
    });
    return svg;
  }

  // --- One row --------------------------------------------------------------------------------------------------------

  function fill(host, item, i) {
    if (host.childElementCount) return;
    const columns = data.figures.columns;
    const start = h("button", { class: "button strong", type: "button", on: { click: () => document.dispatchEvent(new CustomEvent("hedgerow:whatif", { detail: { row: i, values: item.values } })) } }, "What if …");
    host.append(h("div", { class: "detail" },
      h("div", null, h("h4", null, "Explanation"), h("ul", { class: "text" }, item.text.map((line) => h("li", null, line)))),
      item.reasons.length ? reasonBars(item) : null,
      item.contributions ? contributions(item) : null,
      item.counterfactuals?.length ? h("div", null, h("h4", null, "What would change the answer"), h("ul", { class: "text" }, item.counterfactuals.map((one) => h("li", null, h("b", null, one.target), ": ",
        one.changes.length ? one.changes.map(([j, a, b]) => `${columns[j].name} ${cell(a)} → ${cell(b)}`).join(", ") : "no change", h("small", null, ` distance ${number(one.distance, 3)}${one.nearest ? "" : ", perhaps not the nearest"}`))))) : null,
      item.neighbors?.length ? h("div", { class: "wide" }, h("h4", null, "Rows that share most leaves with it"), hedgerow.rowsTable(item.neighbors.map(([row]) => row), (item.contributions?.values ?? []).map(([j]) => j), item)) : null,
      h("div", { class: "wide" }, h("h4", null, "Its values"), h("ul", { class: "values" }, item.values.slice(0, 60).map((value, j) => h("li", null, h("span", null, `${columns[j].name} `), h("b", null, cell(value)))), item.values.length > 60 ? h("li", null, `and ${item.values.length - 60} more`) : null)),
      byId("whatif") ? h("div", { class: "wide" }, start) : null,
    ));
  }

  function contributions(item) {
    const host = h("div", { class: "plot" }), { of, base, values, others } = item.contributions;
    const names = data.figures.columns;
    const rows = values.map(([j, value]) => ({ name: `${names[j].name} = ${cell(item.values[j])}`, value, text: (value > 0 ? "+" : "−") + number(Math.abs(value), 2), bar: value > 0 ? "bar" : "bar against" }));
    if (others) rows.push({ name: "other columns", value: others, text: (others > 0 ? "+" : "−") + number(Math.abs(others), 2), bar: "bar soft" });
    const most = Math.max(...rows.map((row) => Math.abs(row.value)), 1e-9);
    const what = classes() ? `${of} of ${data.figures.classes[item.answer]}` : of;
    const found = h("div", null, h("h4", null, `Contributions to the ${what}`), host, h("p", { class: "confused" }, `from ${number(base, 3)}, where no column is known`));
    plot(host, (width) => hedgerow.bars({ width, rows, low: -most, high: most, label: `Contributions: ${rows.map((row) => `${row.name} ${row.text}`).join("; ")}` }));
    return found;
  }

  /** Some rows of the data as a table; `first` are columns to show first, `beside` a row in doubt to compare with. */
  hedgerow.rowsTable = (rows, first, beside) => {
    const table = hedgerow.data.table, columns = hedgerow.data.figures.columns;
    const known = table.columns;
    const shown = [...new Set([...first.filter((j) => known.includes(j)), ...known])].slice(0, 8);
    const at = new Map(table.rows.map((row, i) => [row, i]));
    const target = (value) => (classes() ? (value === null ? "?" : label(value)) : number(value));
    const line = (name, truth, pick, share) => h("tr", null, h("th", { scope: "row" }, name), h("td", null, target(truth)), share === undefined ? null : h("td", null, share), shown.map((j) => h("td", null, cell(pick(j)))));
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows" }, h("table", { class: "table" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "row"), h("th", { scope: "col" }, "truth"), beside ? h("th", { scope: "col" }, "shared") : null, shown.map((j) => h("th", { scope: "col" }, columns[j].name)))),
      h("tbody", null,
        beside ? line("this row", beside.truth, (j) => beside.values[j], "") : null,
        rows.filter((row) => at.has(row)).map((row) => {
          const i = at.get(row), share = beside?.neighbors.find(([other]) => other === row)?.[1];
          return line(`${table.labels[i]}`, table.truth[i], (j) => table.values[i][known.indexOf(j)], beside ? percent(share, 0) : undefined);
        }))));
  };
})();
