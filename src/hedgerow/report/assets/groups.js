// Errors and coverage in groups of rows, by a column that the reader chooses.
(() => {
  "use strict";
  const { h, byId, plot, bars, number, percent } = hedgerow;

  hedgerow.startGroups = ({ figures }) => {
    if (!figures.groups?.length) return;
    const draw = (at) => byId("groups-view").replaceChildren(charts(figures, figures.groups[at]), table(figures, figures.groups[at]));
    byId("groups-tools").append(h("label", null, "Rows by ", h("select", { on: { change: (event) => draw(Number(event.target.value)) } },
      figures.groups.map((one, i) => h("option", { value: i }, one.column)))));
    draw(0);
  };

  const wrong = (share) => (share.value === null ? share : { value: 1 - share.value, interval: share.interval.map((end) => 1 - end).toReversed() });

  // What is drawn, and what is in the table: [title, value of a group], a share with its interval or a number.
  function measures(figures) {
    const { answers } = figures;
    if (figures.task !== "classification") {
      return [
        ["mean error", (group) => group.mean_absolute_error], ["bias", (group) => group.bias],
        ...(answers.has_intervals ? [["truth in its interval", (group) => group.coverage], ["median width", (group) => group.median_width]] : []),
      ];
    }
    const said = figures.classes[1];
    return [
      ...(answers.has_sets ? [["not decided", (group) => wrong(group.decided)], ["wrong where decided", (group) => wrong(group.accuracy_where_decided)]] : []),
      [answers.has_sets ? "wrong if forced" : "wrong", (group) => wrong(group.accuracy)],
      ...(answers.has_sets ? [["truth in its set", (group) => group.set_accuracy]] : []),
      ...(figures.groups[0].groups[0].false_positive ? [[`answered ${said}`, (group) => group.answered_positive], ["false positives", (group) => group.false_positive], ["false negatives", (group) => group.false_negative]] : []),
    ];
  }

  const drawn = (figures) => measures(figures).filter(([title]) => ["not decided", "wrong where decided", "wrong", "mean error", "truth in its interval"].includes(title));

  function charts(figures, { column, groups }) {
    return h("div", { class: "charts" }, drawn(figures).map(([title, pick]) => {
      const host = h("div", { class: "plot" });
      plot(host, (width) => {
        const rows = groups.map((group) => [group, pick(group)]).filter(([, found]) => found !== null && found.value !== null).map(([group, found]) => {
          const name = `${group.group} (${number(group.rows)})`;
          return typeof found === "number" ? { name, value: found, text: number(found) } : { name, value: found.value, low: found.interval[0], high: found.interval[1], text: percent(found.value) };
        });
        if (!rows.length) return h("p", { class: "confused" }, "no rows");
        return bars({ width, rows, low: 0, high: Math.max(...rows.map((row) => row.high ?? row.value), 1e-9), label: `${title} by ${column}: ` + rows.map((row) => `${row.name} ${row.text}`).join("; ") });
      });
      return h("figure", { class: "chart" }, h("figcaption", null, h("h3", null, `${title}, by ${column}`)), host);
    }));
  }

  function table(figures, { column, groups }) {
    const shown = measures(figures);
    const cell = (found) => {
      if (found === null || typeof found === "number") return h("td", null, number(found));
      return h("td", null, percent(found.value), found.value === null ? null : h("span", { class: "interval" }, `${(100 * found.interval[0]).toFixed(1)} to ${percent(found.interval[1])}`));
    };
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Figures by ${column}` }, h("table", { class: "table figures groups" },
      h("thead", null, h("tr", null, [column, "rows", ...shown.map(([title]) => title)].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", null, groups.map((group) => h("tr", null, h("th", { scope: "row" }, group.group), h("td", null, number(group.rows)), shown.map(([, pick]) => cell(pick(group))))))));
  }
})();
