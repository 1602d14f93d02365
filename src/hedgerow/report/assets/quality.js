// Reliability, ROC, confusion, sets, errors, coverage, utility and rules.
(() => {
  "use strict";
  const { s, h, byId, plot, frame, path, series, bars, number, percent } = hedgerow;

  hedgerow.startQuality = ({ figures }) => {
    splitBar(figures);
    if (figures.task === "classification") startClasses(figures);
    else startNumbers(figures);
    caution(figures);
    rules(figures);
  };

  // Right, wrong and undecided rows as one bar below the tiles.
  function splitBar(figures) {
    const answers = figures.answers;
    if (!answers || figures.task !== "classification" || !answers.has_sets) return;
    const right = answers.accuracy_where_decided.count, wrong = answers.decided.count - right;
    const open = answers.rows - answers.decided.count;
    const parts = [["right", right, "decided and right"], ["soft", open, "not decided"], ["wrong", wrong, "decided and wrong"]];
    plot(byId("split-bar"), (width) => {
      const svg = s("svg", { viewBox: `0 0 ${width} 22`, role: "img", "aria-label": parts.map(([, n, text]) => `${n} rows ${text}`).join(", ") });
      let x = 0;
      for (const [name, n, text] of parts) {
        const part = (n / answers.rows) * width;
        if (n) svg.append(s("rect", { class: `bar ${name}`, x, y: 2, width: Math.max(1, part - 2), height: 18, rx: 3 }, s("title", { text: `${number(n)} rows ${text}` })));
        x += part;
      }
      return [svg, series(parts.map(([name, n, text]) => [name, `${number(n)} ${text}`, "bar"]))];
    });
  }

  function startClasses(figures) {
    const models = figures.reliability.map((one) => one.model);
    let chosen = Math.max(0, models.indexOf(figures.deciding));
    let curve = 0;
    const draw = () => {
      reliability(figures, chosen);
      roc(figures, chosen, curve);
    };
    const select = h("select", { on: { change: (event) => { chosen = Number(event.target.value); draw(); } } },
      models.map((name, i) => h("option", { value: i, selected: i === chosen }, name)));
    const tools = byId("quality-tools");
    if (models.length > 1) tools.append(h("label", null, "Model ", select));
    const curves = figures.roc[chosen]?.curves ?? [];
    if (curves.length > 1) {
      tools.append(h("label", null, "ROC of class ", h("select", { on: { change: (event) => { curve = Number(event.target.value); draw(); } } },
        curves.map((one, i) => h("option", { value: i }, figures.classes[one.class])))));
    }
    draw();
    confusion(figures);
    sets(figures);
  }

  // plot() keeps one observer a host: a new host for each choice.
  function fresh(id) {
    const old = byId(id), host = h("div", { id, class: "plot" });
    old?.replaceWith(host);
    return old ? host : null;
  }

  function reliability(figures, chosen) {
    const { bins, of } = figures.reliability[chosen];
    const positive = of === "positive" ? figures.classes[1] : null;
    plot(fresh("reliability"), (width) => {
      const height = Math.min(360, Math.max(240, width * 0.8));
      const { svg, sx, sy, inner, bottom } = frame({
        width, height, x: [0, 1], y: [0, 1], percent: true,
        xTitle: positive ? `predicted probability of ${positive}` : "predicted probability of the answer",
        yTitle: positive ? `share of ${positive}` : "share of right answers",
        label: `Reliability of the ${figures.reliability[chosen].model}: ` + bins.map((bin) => `predicted ${percent(bin.predicted)}, came true ${percent(bin.value)} of ${bin.rows} rows`).join("; "),
      });
      const most = Math.max(...bins.map((bin) => bin.rows));
      for (const bin of bins) {
        const tall = (bin.rows / most) * inner.height * 0.2;
        svg.append(s("rect", { class: "bar soft", x: sx(bin.predicted) - 5, y: bottom - tall, width: 10, height: tall }, s("title", { text: `${number(bin.rows)} rows` })));
      }
      svg.append(s("path", { class: "guide", d: path([sx(0), sx(1)], [sy(0), sy(1)]) }));
      const xs = bins.map((bin) => sx(bin.predicted));
      const band = path([...xs, ...xs.toReversed()], [...bins.map((bin) => sy(bin.interval[0])), ...bins.toReversed().map((bin) => sy(bin.interval[1]))]);
      svg.append(s("path", { class: "area", d: `${band}Z` }), s("path", { class: "line", d: path(xs, bins.map((bin) => sy(bin.value))) }));
      for (const bin of bins) {
        svg.append(s("circle", { class: "dot", cx: sx(bin.predicted), cy: sy(bin.value), r: 4 },
          s("title", { text: `predicted ${percent(bin.predicted)}: came true ${percent(bin.value)} of ${number(bin.rows)} rows (${percent(bin.interval[0])} to ${percent(bin.interval[1])})` })));
      }
      return svg;
    });
  }

  function roc(figures, chosen, curve) {
    plot(fresh("roc"), (width) => {
      const height = Math.min(360, Math.max(240, width * 0.8));
      const models = figures.roc.map((one, i) => ({ name: one.model, curve: one.curves[curve], i })).filter((one) => one.curve);
      const { svg, sx, sy } = frame({
        width, height, x: [0, 1], y: [0, 1], percent: true, xTitle: "false positives", yTitle: "true positives",
        label: "ROC: " + models.map((one) => `${one.name}, area ${number(one.curve.auc, 3)}`).join("; "),
      });
      svg.append(s("path", { class: "guide", d: path([sx(0), sx(1)], [sy(0), sy(1)]) }));
      for (const one of models.toSorted((a, b) => (a.i === chosen) - (b.i === chosen))) {
        const line = s("path", { class: `line m${one.i % 7}${one.i === chosen ? " chosen" : ""}`, d: path(one.curve.fpr.map(sx), one.curve.tpr.map(sy)) }, s("title", { text: `${one.name}: area ${number(one.curve.auc, 3)}` }));
        svg.append(line);
      }
      return [svg, series(models.map((one) => [`m${one.i % 7}${one.i === chosen ? " chosen" : ""}`, `${one.name} ${one.curve.auc.toFixed(3)}`]))];
    });
  }

  function confusion(figures) {
    const counts = figures.confusion, n = counts.length;
    const totals = counts.map((row) => row.reduce((a, b) => a + b, 0));
    const wrong = [];
    counts.forEach((row, i) => row.forEach((count, j) => { if (i !== j && count) wrong.push([count, i, j]); }));
    wrong.sort((a, b) => b[0] - a[0]);
    plot(byId("confusion"), (width) => {
      const longest = Math.max(...figures.classes.map((name) => name.length));
      const left = Math.min(width * 0.34, 7 * longest + 16) + 14, top = n > 8 || longest > 8 ? Math.min(80, 6.5 * longest + 24) : 38;
      const size = Math.min((width - left - 4) / n, 76);
      const height = top + size * n + 6;
      const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Confusion: " + (wrong.length ? wrong.slice(0, 8).map(([count, i, j]) => `${count} rows of ${figures.classes[i]} answered ${figures.classes[j]}`).join("; ") : "no mistakes") });
      svg.append(s("text", { class: "tick", x: left + (size * n) / 2, y: 11, "text-anchor": "middle", text: "predicted" }));
      svg.append(s("text", { class: "tick", x: 9, y: top + (size * n) / 2, "text-anchor": "middle", transform: `rotate(-90 9 ${top + (size * n) / 2})`, text: "true" }));
      figures.classes.forEach((name, i) => {
        const at = (i + 0.5) * size;
        svg.append(s("text", { class: "tick", x: left - 6, y: top + at + 4, "text-anchor": "end", text: hedgerow.shortened(name, Math.floor((left - 20) / 6.4)) }, s("title", { text: name })));
        const turned = size < 7 * Math.min(longest, 9) && !(longest <= 2);
        const place = turned ? { transform: `rotate(-50 ${left + at} ${top - 6})`, "text-anchor": "start" } : { "text-anchor": "middle" };
        svg.append(s("text", { class: "tick", x: left + at, y: top - 6, ...place, text: hedgerow.shortened(name, turned ? 11 : Math.max(1, Math.floor(size / 6.4))) }));
      });
      counts.forEach((row, i) => row.forEach((count, j) => {
        const share = totals[i] ? count / totals[i] : 0;
        const cell = s("rect", { class: i === j ? "cell" : "cell wrong", x: left + j * size, y: top + i * size, width: Math.max(1, size - 1.5), height: Math.max(1, size - 1.5), rx: 2,
          "fill-opacity": count ? (0.08 + 0.62 * Math.sqrt(share)).toFixed(3) : 0.03 });
        cell.append(s("title", { text: `${number(count)} of ${number(totals[i])} rows of ${figures.classes[i]} answered ${figures.classes[j]}` }));
        svg.append(cell);
        if (count && size >= 8 * String(count).length && size > 20) svg.append(s("text", { class: "cell-text", x: left + (j + 0.5) * size - 1, y: top + (i + 0.5) * size, text: count }));
      }));
      const found = [svg];
      if (n > 2 && wrong.length) {
        found.push(h("ul", { class: "confused" }, wrong.slice(0, 4).map(([count, i, j]) => h("li", null, `${figures.classes[i]} answered ${figures.classes[j]}: ${number(count)} of ${number(totals[i])}`))));
      }
      return found;
    });
  }

  function sets(figures) {
    const found = figures.answers.sets;
    if (!found) return;
    plot(byId("sets"), (width) => bars({
      width, low: 0, high: 1, label: "Sets: " + found.map((one) => `${one.size} classes: ${one.rows} rows, the truth is inside for ${percent(one.value)}`).join("; "),
      rows: found.map((one) => ({ name: `${hedgerow.counted(one.size, "class", "classes")} · ${number(one.rows)} rows`, value: one.value, low: one.interval[0], high: one.interval[1], text: percent(one.value) })),
    }));
  }

  // --- Numbers --------------------------------------------------------------------------------------------------

  function startNumbers(figures) {
    const found = figures.scatter;
    if (!found) return;
    plot(byId("scatter"), (width) => {
      const height = Math.min(420, Math.max(260, width * 0.85));
      const all = [...found.truth, ...found.value];
      const ends = [Math.min(...all), Math.max(...all)];
      const { svg, sx, sy } = frame({ width, height, x: ends, y: ends, xTitle: "prediction", yTitle: "truth", label: `Truth against prediction of ${found.shown} rows` });
      svg.append(s("path", { class: "guide", d: path(ends.map(sx), ends.map(sy)) }));
      const clip = (value) => Math.min(Math.max(value, ends[0]), ends[1]);
      found.value.forEach((value, i) => {
        const range = found.interval?.[i];
        const out = range && (found.truth[i] < range[0] || found.truth[i] > range[1]);
        if (range) svg.append(s("line", { class: out ? "span out" : "span", x1: sx(value), x2: sx(value), y1: sy(clip(range[0])), y2: sy(clip(range[1])) }));
        const x = sx(value), y = sy(found.truth[i]);
        const shape = out ? s("path", { class: "point out", d: `M${x - 3.5} ${y - 3.5}l7 7m0-7l-7 7` }) : s("circle", { class: "point", cx: x, cy: y, r: 3 });
        svg.append(s("g", null, shape,
          s("title", { text: `prediction ${number(value)}, truth ${number(found.truth[i])}${range ? `, interval ${number(range[0])} to ${number(range[1])}` : ""}` })));
      });
      return [svg, found.interval ? series([["point", "inside its interval", "dot"], ["point out", "outside", "cross"]]) : null].filter(Boolean);
    });
    plot(byId("errors"), (width) => {
      const { counts, edges } = found.errors;
      const { svg, sx, sy, bottom } = frame({ width, height: 260, x: [edges[0], edges.at(-1)], y: [0, Math.max(...counts) * 1.05], xTitle: "truth less prediction", yTitle: "rows", label: "Histogram of the errors" });
      counts.forEach((count, i) => svg.append(s("rect", { class: "bar", x: sx(edges[i]) + 0.5, y: sy(count), width: Math.max(0.5, sx(edges[i + 1]) - sx(edges[i]) - 1), height: bottom - sy(count) },
        s("title", { text: `${number(edges[i], 3)} to ${number(edges[i + 1], 3)}: ${number(count)} rows` }))));
      svg.append(s("line", { class: "guide", x1: sx(0), x2: sx(0), y1: 10, y2: bottom }));
      return svg;
    });
    const levels = figures.levels;
    if (levels) {
      plot(byId("levels"), (width) => {
        const { svg, sx, sy } = frame({ width, height: 280, x: [0.45, 1], y: [0.4, 1], percent: true, xTitle: "asked for", yTitle: "truth inside", label: "Coverage: " + levels.map((one) => `${percent(one.asked, 0)} asked, ${percent(one.coverage)} held`).join("; ") });
        svg.append(s("path", { class: "guide", d: path([0.45, 1].map(sx), [0.45, 1].map(sy)) }));
        svg.append(s("path", { class: "line", d: path(levels.map((one) => sx(one.asked)), levels.map((one) => sy(one.coverage))) }));
        for (const one of levels) svg.append(s("circle", { class: "dot", cx: sx(one.asked), cy: sy(one.coverage), r: 4 }, s("title", { text: `${percent(one.asked, 0)} asked for: ${percent(one.coverage)} held, mean width ${number(one.width)}` })));
        return svg;
      });
    }
  }

  // --- Caution and rules ------------------------------------------------------------------------------------------

  function caution(figures) {
    const found = figures.caution;
    if (!found) return;
    const points = found.points, all = points.flatMap((point) => [point.u65, point.u80]);
    const low = Math.floor(20 * Math.min(...all)) / 20, high = Math.min(1, Math.ceil(20 * Math.max(...all)) / 20);
    plot(byId("utility"), (width) => {
      const { svg, sx, sy, bottom } = frame({ width, height: 280, x: [points[0].s, points.at(-1).s], y: [low, high], log: true, xTicks: points.map((point) => point.s).filter((_, i) => width > 380 || i % 2 === 0),
        xTitle: "s (caution)", yTitle: "mean utility", label: "Utility: " + points.map((point) => `s ${point.s}: u65 ${number(point.u65, 3)}, u80 ${number(point.u80, 3)}`).join("; ") });
      const chosen = sx(Math.min(Math.max(found.chosen, points[0].s), points.at(-1).s));
      svg.append(s("line", { class: "mark", x1: chosen, x2: chosen, y1: 10, y2: bottom }), s("text", { class: "mark-text", x: chosen + (chosen > width - 90 ? -6 : 6), y: bottom - 8, "text-anchor": chosen > width - 90 ? "end" : "start", text: `s = ${number(found.chosen, 3)}` }));
      [["u80", "second"], ["u65", ""]].forEach(([name, style]) => {
        svg.append(s("path", { class: `line ${style}`, d: path(points.map((point) => sx(point.s)), points.map((point) => sy(point[name]))) }));
        for (const point of points) svg.append(s("circle", { class: `dot ${style}`, cx: sx(point.s), cy: sy(point[name]), r: 3.5 }, s("title", { text: `s = ${point.s}: ${name} ${number(point[name], 4)}; decides ${percent(point.decided)}` })));
      });
      return [svg, series([["second", "u80: 0.80 for a right set of two"], ["", "u65: 0.65"]])];
    });
    const sure = points.filter((point) => point.accuracy_where_decided !== null);
    plot(byId("rejection"), (width) => {
      const low = Math.min(0.95, Math.floor(20 * Math.min(...sure.map((point) => point.accuracy_where_decided))) / 20);
      const least = Math.floor(10 * Math.min(...sure.map((point) => point.decided))) / 10;
      const { svg, sx, sy } = frame({ width, height: 280, x: [least, 1], y: [low, 1], percent: true, xTitle: "rows decided", yTitle: "right where decided", label: "Accuracy where decided: " + sure.map((point) => `${percent(point.decided)} decided, ${percent(point.accuracy_where_decided)} right`).join("; ") });
      svg.append(s("path", { class: "line", d: path(sure.map((point) => sx(point.decided)), sure.map((point) => sy(point.accuracy_where_decided))) }));
      for (const point of sure) svg.append(s("circle", { class: "dot", cx: sx(point.decided), cy: sy(point.accuracy_where_decided), r: 4 }, s("title", { text: `s = ${point.s}: decides ${percent(point.decided)}, right for ${percent(point.accuracy_where_decided)}` })));
      return svg;
    });
  }

  function rules(figures) {
    const found = figures.rules?.rules;
    if (!found) return;
    let metric = "accuracy";
    const better = { accuracy: 1, auc: 1, log_loss: -1, brier: -1, calibration_error: -1 };
    const names = { accuracy: "accuracy", auc: "AUC", log_loss: "log-loss", brier: "Brier score", calibration_error: "calibration error" };
    const host = byId("rules");
    const draw = () => plot(fresh("rules"), (width) => {
      const rows = found.filter((one) => one.scores[metric]?.value !== null && one.scores[metric]).map((one) => {
        const { value, standard_error: error } = one.scores[metric];
        return { name: one.rule, value, ...(error === null ? {} : { low: value - error, high: value + error }), text: value.toFixed(3) };
      }).toSorted((a, b) => better[metric] * (b.value - a.value));
      const values = rows.flatMap((row) => [row.low ?? row.value, row.high ?? row.value]);
      const low = better[metric] > 0 ? Math.max(0, Math.min(...values) - 0.3 * (Math.max(...values) - Math.min(...values)) - 0.005) : 0;
      return bars({ width, rows, low, high: Math.max(...values), zero: low, label: `Rules by ${names[metric]}: ` + rows.map((row) => `${row.name} ${row.text}`).join("; ") });
    });
    host.before(h("div", { class: "tools" }, h("label", null, "by ", h("select", { on: { change: (event) => { metric = event.target.value; draw(); } } },
      Object.entries(names).map(([value, text]) => h("option", { value }, text))))));
    draw();
  }
})();
