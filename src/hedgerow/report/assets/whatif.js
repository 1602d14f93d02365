// What if: controls for the columns of a row, and what the models of the page answer as they change.
(() => {
  "use strict";
  const { h, s, byId, number, percent, counted, shortened, kinds } = hedgerow;
  const FIRST = 8; // columns that are not folded away
  const SEARCHED = 24; // folded columns from which on they can be searched
  const MOST_BARS = 6; // classes with a bar of their own
  const MOST_TESTED = 8;
  const POSITIONS = 200; // of a slider for numbers that are not whole
  const PROFILE = 40; // steps of the curve below a slider
  const MOST_PROFILED = 24; // categories that have an answer each below their menu
  const MOST_LISTED = 4; // categories of a condition
  const MOST_OTHERS = 300; // rows to start from beside those in doubt
  const QUIET = 500; // milliseconds without a change until the answer is read out
  const PAUSE = 120; // and until the curves are drawn anew

  let data, models, columns, order, walkers, current, start, values, typical;
  let controls, root, panel, status, spoken, drawn;

  // --- Values: a number, a category's code, or NaN

  const text = (value) => (typeof value === "boolean" ? (value ? "True" : "False") : String(value));

  function encode(raw, column) {
    if (raw === null || raw === undefined) return NaN;
    return column.categories.length ? (column.codeOf.get(text(raw)) ?? NaN) : Number(raw);
  }

  function encodeAll(raw) {
    return columns.map((column, j) => encode(Array.isArray(raw) ? raw[j] : raw[column.name], column));
  }

  // A number as a person would type it: six digits are shown, all are kept.
  const typed = (value) => String(Number(value.toPrecision(6)));

  function shown(value, column) {
    if (Number.isNaN(value)) return "missing";
    return column.categories.length ? text(column.categories[value]) : number(value, 6);
  }

  const parse = (entered) => {
    const plain = entered.trim().replace(/^([-+]?\d*),(\d+)$/, "$1.$2"); // 1,5 is 1.5
    const value = plain === "" ? NaN : Number(plain);
    return Number.isFinite(value) ? value : null;
  };

  // Sliders have whole positions; their ends are the least and largest value of the rows.
  function scaleOf(column) {
    const { low, high } = column, span = high - low;
    const n = column.whole && span <= 2 * POSITIONS ? Math.max(span, 1) : POSITIONS;
    const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(span / n || 1)) + (column.whole ? 0 : 1)));
    return {
      n,
      value: (at) => (at <= 0 ? low : at >= n ? high : Number((low + (span * at) / n).toFixed(column.whole ? 0 : digits))),
      at: (value) => Math.round((Math.min(Math.max(value, low), high) - low) / (span || 1) * n),
    };
  }

  // --- Controls

  let ids = 0;
  const newId = (name) => `whatif-${name}-${ids++}`;

  function control(j) {
    const column = columns[j];
    const name = h("span", { class: "whatif-name", id: newId("name") }, column.name);
    const was = h("small", { class: "whatif-was" });
    const box = h("div", { class: "whatif-column", role: "group", "aria-labelledby": name.id });
    const made = column.categories.length ? menu(j, name) : column.low === undefined ? null : slider(j, name);
    box.append(h("div", { class: "whatif-head" }, name, was), ...(made ? made.parts : [h("small", null, data.made_up ? "no range of values is known" : "no value in any row")]));
    const update = () => {
      const changed = !Object.is(values[j], start[j]);
      box.classList.toggle("changed", changed);
      was.textContent = changed ? `was ${shown(start[j], column)}` : models[current].splits_on.includes(j) ? "" : "not used by this model";
      made?.update();
    };
    return { box, update, profile: made?.profile, focus: () => made?.focus() };
  }

  function menu(j, name) {
    const column = columns[j];
    const options = column.categories.map((category, code) => h("option", { value: code }, text(category)));
    const select = h("select", { "aria-labelledby": name.id }, options, h("option", { value: "" }, "missing, or another"));
    select.addEventListener("change", () => change(j, select.value === "" ? NaN : Number(select.value)));
    const curve = h("div", { class: "whatif-curve", "aria-hidden": "true" });
    return {
      parts: column.categories.length > MOST_PROFILED ? [select] : [select, curve],
      profile: column.categories.length > MOST_PROFILED ? null : new Profile(curve, j, column.categories.map((_, code) => code), true),
      update: () => { select.value = Number.isNaN(values[j]) ? "" : String(values[j]); },
      focus: () => select.focus(),
    };
  }

  function slider(j, name) {
    const column = columns[j], scale = scaleOf(column), steps = Math.min(scale.n, PROFILE);
    const error = h("p", { class: "whatif-error", id: newId("error") });
    const range = h("input", { type: "range", min: 0, max: scale.n, step: 1, "aria-labelledby": name.id });
    const field = h("input", { type: "text", inputmode: "decimal", autocomplete: "off", size: 9, "aria-labelledby": name.id, "aria-describedby": error.id });
    const missing = h("input", { type: "checkbox", id: newId("missing") });
    const curve = h("div", { class: "whatif-curve", "aria-hidden": "true" });
    const complain = (message) => {
      error.textContent = message;
      message ? field.setAttribute("aria-invalid", "true") : field.removeAttribute("aria-invalid");
    };
    range.addEventListener("input", () => change(j, scale.value(range.valueAsNumber)));
    field.addEventListener("input", () => {
      const value = parse(field.value);
      if (value !== null) change(j, value, field);
    });
    field.addEventListener("change", () => {
      const value = field.value.trim() === "" ? NaN : parse(field.value);
      if (value !== null) return change(j, value);
      complain(`“${shortened(field.value.trim(), 20)}” is not a number; it stays ${shown(values[j], column)}`);
    });
    missing.addEventListener("change", () => {
      const known = Number.isNaN(start[j]) ? column.typical : start[j];
      change(j, missing.checked ? NaN : known);
    });
    const update = (from) => {
      const value = values[j], absent = Number.isNaN(value);
      missing.checked = absent;
      range.value = scale.at(absent ? column.typical : value);
      range.classList.toggle("absent", absent);
      range.setAttribute("aria-valuetext", shown(value, column));
      if (from !== field) field.value = absent ? "" : typed(value);
      field.placeholder = absent ? "missing" : "";
      const outside = !absent && (value < column.low || value > column.high);
      complain("");
      if (outside) error.textContent = `outside the ${data.made_up ? "splits of the models" : "rows of this page"}: ${number(column.low)} to ${number(column.high)}`;
    };
    return {
      parts: [
        h("div", { class: "whatif-slide" }, range, curve),
        h("div", { class: "whatif-typed" }, field, h("label", { class: "whatif-missing", for: missing.id }, missing, " missing", h("span", { class: "whatif-hidden" }, `: ${column.name}`))),
        error,
      ],
      update: () => update(document.activeElement === field ? entering : null),
      profile: new Profile(curve, j, Array.from({ length: steps + 1 }, (_, i) => scale.value((i * scale.n) / steps)), false),
      focus: () => range.focus(),
    };
  }

  let entering = null; // the field that is being typed in, whose text stays as it is

  function change(j, value, from = null) {
    values[j] = value;
    entering = from;
    refresh(j);
    entering = null;
  }

  // --- Below a slider or a menu: the answer along its column, all other values as they are

  class Profile {
    constructor(host, j, points, apart) {
      Object.assign(this, { host, j, points, apart });
    }

    compute() {
      const row = Float64Array.from(values);
      this.answers = this.points.map((value) => {
        row[this.j] = value;
        return walkers[current].answer(row);
      });
    }

    // Least and largest answer of a regressor.
    extent() {
      const found = this.answers.map((answer) => answer.value);
      return [Math.min(...found), Math.max(...found)];
    }

    draw(extent) {
      const svg = s("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none" });
      const { classes } = models[current];
      if (classes) svg.append(...classes.map((_, k) => this.#area(k)));
      else svg.append(...this.#line(extent));
      const here = this.#place(values[this.j]);
      if (here !== null) svg.append(this.apart
        ? s("rect", { class: "here", x: 100 * here - this.#half(), y: 0, width: 2 * this.#half(), height: 20 })
        : s("line", { class: "here", x1: 100 * here, x2: 100 * here, y1: 0, y2: 20 }));
      this.host.replaceChildren(svg);
    }

    #half() { // of the bar of a category
      return 42 / this.points.length;
    }

    // Where a value is, from 0 to 1; null where it is missing.
    #place(value) {
      if (Number.isNaN(value)) return null;
      if (this.apart) return (value + 0.5) / this.points.length;
      const low = this.points[0], high = this.points.at(-1);
      return Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
    }

    // The share of a class, on top of those of the classes before it.
    #area(k) {
      const ends = this.answers.map(({ probabilities }) => {
        let below = 0;
        for (let i = 0; i < k; i++) below += probabilities[i];
        return [20 - 20 * below, 20 - 20 * (below + probabilities[k])];
      });
      if (this.apart) {
        const half = this.#half();
        return s("g", { class: `c${k}` }, ends.map(([from, to], i) =>
          s("rect", { x: 100 * this.#place(this.points[i]) - half, width: 2 * half, y: to, height: Math.max(0, from - to) })));
      }
      const xs = this.points.map((value) => (100 * this.#place(value)).toFixed(2));
      const corners = [...xs.map((x, i) => `${x},${ends[i][1].toFixed(2)}`), ...xs.map((x, i) => `${x},${ends[i][0].toFixed(2)}`).reverse()];
      return s("polygon", { class: `c${k}`, points: corners.join(" ") });
    }

    #line([low, high]) {
      const points = this.points.map((value, i) => [100 * this.#place(value), 18 - (16 * (this.answers[i].value - low)) / (high - low || 1)]);
      if (!this.apart) return [s("polyline", { points: points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ") })];
      return points.map(([x, y]) => s("line", { class: "level", x1: x - this.#half(), x2: x + this.#half(), y1: y, y2: y }));
    }
  }

  // Least and largest prediction of a leaf of a regressor.
  function extent(walker) {
    walker.extent ??= walker.tables[0].values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
    return walker.extent;
  }

  // --- The answer

  function showAnswer() {
    const walker = walkers[current], model = models[current];
    const answer = walker.answer(values), before = walker.answer(start);
    panel.answer.replaceChildren(...(model.classes ? classAnswer(answer, before, model) : numberAnswer(answer, before, walker)));
    showChanges();
    if (panel.why.open) showWhy();
    speak(model.classes ? classSentence(answer, model) : numberSentence(answer));
    document.dispatchEvent(new CustomEvent("hedgerow:whatif-answer", { detail: { answer, model: model.name, values: Array.from(values, (value) => (Number.isNaN(value) ? null : value)) } }));
  }

  const inSet = (answer) => (answer.set ?? []).flatMap((kept, k) => (kept ? [k] : []));
  const named = (codes, classes) => codes.map((k) => classes[k]);

  function classSentence(answer, { classes }) {
    const set = inSet(answer), best = `${classes[answer.code]}, ${percent(answer.probabilities[answer.code], 0)}`;
    return set.length > 1 ? `Undecided between ${named(set, classes).join(", ")}; most probable ${best}` : `Answer ${best}`;
  }

  const numberSentence = (answer) => `Answer ${number(answer.value)}${answer.interval ? `, from ${number(answer.interval[0])} to ${number(answer.interval[1])}` : ""}`;

  function classAnswer(answer, before, model) {
    const { classes } = model, set = inSet(answer);
    const chip = (k) => h("span", { class: `whatif-class c${k}` }, h("i", { "aria-hidden": "true" }), classes[k]);
    const head = set.length > 1
      ? h("p", { class: "whatif-head-answer" }, h("small", null, "undecided between"), ...listed(set.slice(0, MOST_BARS).map(chip), " or "), set.length > MOST_BARS ? ` and ${set.length - MOST_BARS} more` : null)
      : h("p", { class: "whatif-head-answer" }, h("small", null, answer.set && !set.length ? "unlike every calibration row; most probable" : "answer"), chip(set.length === 1 ? set[0] : answer.code));
    const ranks = classes.map((_, k) => k).sort((a, b) => answer.probabilities[b] - answer.probabilities[a] || a - b);
    const several = classes.length > MOST_BARS;
    const bars = several ? ranks.slice(0, MOST_BARS - 1) : classes.map((_, k) => k);
    const rest = several ? ranks.slice(MOST_BARS - 1) : [];
    const list = h("ul", { class: "whatif-bars" }, bars.map((k) => bar(k, answer, before, classes)));
    const found = [head, list];
    if (rest.length) found.push(h("p", { class: "whatif-note" }, `${counted(rest.length, "other class", "other classes")}: together ${percent(rest.reduce((sum, k) => sum + answer.probabilities[k], 0))}`));
    const rule = model.answers.set;
    if (rule) found.push(h("p", { class: "whatif-note" }, `Set with coverage ${percent(rule.coverage, 0)}: ${named(set, classes).join(", ") || "empty"}`));
    if (model.answers.bounds) found.push(h("p", { class: "whatif-note" }, `Brackets: bounds with s = ${number(model.answers.bounds.s)} unseen rows a leaf`));
    return found;
  }

  const listed = (parts, between) => parts.flatMap((part, i) => (i ? [between, part] : [part]));

  function bar(k, answer, before, classes) {
    const share = answer.probabilities[k], bounds = answer.bounds?.[k];
    const svg = s("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
      s("rect", { class: "track", x: 0, y: 1, width: 100, height: 10 }),
      s("rect", { class: `fill c${k}`, x: 0, y: 1, width: 100 * share, height: 10 }),
      s("line", { class: "start", x1: 100 * before.probabilities[k], x2: 100 * before.probabilities[k], y1: 0, y2: 12 }));
    if (bounds) {
      const [low, high] = bounds.map((value) => 100 * value);
      svg.append(s("path", { class: "bracket", d: `M${low} 2V10M${low} 6H${high}M${high} 2V10` }));
    }
    const excluded = answer.set && !answer.set[k];
    const moved = share - before.probabilities[k];
    return h("li", { class: excluded ? "excluded" : null },
      h("span", { class: "whatif-bar-name" }, classes[k], excluded ? h("small", null, " excluded") : null),
      h("span", { class: "whatif-bar-value" }, percent(share), Math.abs(moved) >= 0.0005 ? h("small", null, ` ${moved > 0 ? "+" : "−"}${(100 * Math.abs(moved)).toFixed(1)}`) : null,
        bounds ? h("span", { class: "whatif-hidden" }, `, bounds ${percent(bounds[0])} to ${percent(bounds[1])}`) : null),
      svg);
  }

  function numberAnswer(answer, before, walker) {
    const moved = answer.value - before.value;
    const head = h("p", { class: "whatif-head-answer" }, h("small", null, "answer"), h("strong", null, number(answer.value)),
      moved !== 0 ? h("small", null, ` ${moved > 0 ? "+" : "−"}${number(Math.abs(moved))}`) : null);
    const found = [head, numberLine(answer, before, walker)];
    const coverage = walker.answers.interval?.coverage;
    if (answer.interval) found.push(h("p", { class: "whatif-note" }, `Interval with coverage ${percent(coverage, 0)}: ${ends(answer.interval)}`));
    found.push(h("p", { class: "whatif-note" }, `Standard deviation of targets like it: ${number(answer.deviation)}`));
    return found;
  }

  const ends = ([low, high]) => (low === -Infinity ? `up to ${number(high)}` : high === Infinity ? `${number(low)} and more` : `${number(low)} to ${number(high)}`);

  function numberLine(answer, before, walker) {
    const [low, high] = extent(walker), margin = (high - low) * 0.05 || 1;
    const x = (value) => Math.min(100, Math.max(0, 100 * (value - low + margin) / (high - low + 2 * margin)));
    const [from, to] = (answer.interval ?? [answer.value - answer.deviation, answer.value + answer.deviation]).map(x);
    return h("div", { class: "whatif-line" },
      s("svg", { viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" },
        s("rect", { class: "track", x: 0, y: 6, width: 100, height: 4 }),
        s("rect", { class: "span", x: from, y: 4, width: Math.max(0, to - from), height: 8 }),
        s("line", { class: "start", x1: x(before.value), x2: x(before.value), y1: 0, y2: 16 }),
        s("line", { class: "here", x1: x(answer.value), x2: x(answer.value), y1: 0, y2: 16 })),
      h("div", { class: "whatif-ends" }, h("span", null, number(low)), h("span", null, number(high))));
  }

  function showChanges() {
    const changed = columns.map((_, j) => j).filter((j) => !Object.is(values[j], start[j]));
    panel.changes.replaceChildren(...(changed.length ? [
      h("h4", null, counted(changed.length, "change")),
      h("ul", null, changed.map((j) => h("li", null, `${columns[j].name}: ${shown(start[j], columns[j])} → ${shown(values[j], columns[j])} `, undoButton(j)))),
    ] : []));
  }

  const undoButton = (j) => h("button", { class: "whatif-undo", type: "button", "aria-label": `Undo the change of ${columns[j].name}`, on: { click: () => {
    change(j, start[j]);
    controlOf(j)?.focus();
  } } }, "undo");

  // --- Why: the path of one tree, or the columns on the paths of many

  function showWhy() {
    const walker = walkers[current];
    panel.whyBody.replaceChildren(...(walker.forest.nTrees === 1 ? path(walker) : tested(walker)));
  }

  function path(walker) {
    const { forest } = walker, steps = [];
    for (const { node, weight, child } of walker.path(0, values)) {
      const part = weight < 1 ? h("small", null, `${percent(weight, 0)} of the row: `) : null;
      if (forest.kind[node] === kinds.LEAF) steps.push(h("li", { class: "leaf" }, part, `leaf of ${counted(Math.round(100 * forest.weight[node]) / 100, "training row")}`));
      else if (child < 0) steps.push(h("li", null, part, `${subject(forest, node)} is missing, or has no branch: all branches, by their training rows`));
      else steps.push(h("li", null, part, condition(forest, node, child - forest.firstChild[node])));
    }
    return [h("ol", { class: "whatif-path" }, steps)];
  }

  function subject(forest, node) {
    const features = forest.featuresOf(node);
    if (forest.kind[node] !== kinds.OBLIQUE) return columns[features[0]].name;
    return forest.weightsOf(node).map((weight, i) => `${weight < 0 ? "− " : i ? "+ " : ""}${number(Math.abs(weight), 4)}·${columns[features[i]].name}`).join(" ");
  }

  function condition(forest, node, child) {
    const kind = forest.kind[node], name = subject(forest, node), at = forest.threshold[node];
    const column = columns[forest.featuresOf(node)[0]];
    if (forest.missing?.[node] === kinds.OWN_BRANCH && child === forest.nChildren[node] - 1) return `${name} is missing`;
    if (kind === kinds.OBLIQUE || (kind === kinds.THRESHOLD && !column.categories.length)) {
      if (at === Infinity) return `${name} is ${child ? "missing" : "known"}`;
      const value = kind === kinds.OBLIQUE || Number.isNaN(values[forest.feature[node]]) ? "" : ` = ${shown(values[forest.feature[node]], column)}`;
      return `${name}${value} ${child ? ">" : "≤"} ${number(at, 6)}`;
    }
    const codes = column.categories.map((_, code) => code);
    const there = (code) => (kind === kinds.THRESHOLD ? Number(code > at) : forest.childOfCode(node, code)) === child;
    const names = codes.filter(there).map((code) => text(column.categories[code]));
    const few = names.slice(0, MOST_LISTED).join(", ") + (names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : "");
    return names.length === 1 ? `${name} = ${few}` : `${name} is one of ${few}`;
  }

  function tested(walker) {
    const shares = [...walker.tested(values)].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const top = shares.slice(0, MOST_TESTED);
    const list = h("ul", { class: "whatif-bars" }, top.map(([j, share]) => h("li", null,
      h("span", { class: "whatif-bar-name" }, columns[j].name), h("span", { class: "whatif-bar-value" }, percent(share, 0)),
      s("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
        s("rect", { class: "track", x: 0, y: 3, width: 100, height: 6 }), s("rect", { class: "fill", x: 0, y: 3, width: 100 * share, height: 6 })))));
    const rest = shares.length - top.length;
    return [h("p", { class: "whatif-note" }, `Share of the ${counted(walker.forest.nTrees, "tree")} whose path for this row tests the column`), list,
      ...(rest > 0 ? [h("p", { class: "whatif-note" }, `and ${counted(rest, "other column")}`)] : [])];
  }

  // --- What the page says of a model

  function about(model) {
    const found = [];
    if (model.agreement) {
      const { n_rows: nRows, same_label: same, mean_difference: difference, spread } = model.agreement;
      const trees = model.of_trees === 1 ? "a smaller tree" : `${number(model.n_trees)} of ${number(model.of_trees)} trees`;
      const leaves = model.least_rows > 0 ? `, with nodes of fewer than ${number(model.least_rows)} rows made leaves` : "";
      const agrees = same === null
        ? `its answers differ from the whole model's by ${number(difference, 2)} on average, whose own vary by ${number(spread, 2)}`
        : `it names the same class as the whole model for ${percent(same)}, and probabilities differ by ${number(100 * difference, 2)} percentage points on average`;
      found.push(`The page holds ${trees}${leaves}. On ${counted(nRows, data.made_up ? "made-up row" : "row")} ${agrees}.`);
    }
    if (model.without_interval) found.push("Its intervals need the training targets in every leaf, which are too many for the page.");
    return found;
  }

  const absent = () => data.not_walked.map(({ name, reason }) => `“${name}” is not here: it ${reason}.`);

  // --- Putting it together

  const controlOf = (j) => controls.get(j);

  function refresh(j = null) {
    if (j === null) for (const one of controls.values()) one.update();
    else controlOf(j)?.update();
    showAnswer();
    clearTimeout(drawn);
    drawn = setTimeout(drawProfiles, PAUSE);
  }

  // One column at a time, so that the page stays responsive; then all on one scale.
  function drawProfiles() {
    clearTimeout(drawn);
    const visible = [...controls.values()].filter(({ profile, box }) => profile && box.offsetParent !== null).map(({ profile }) => profile);
    const waiting = [...visible];
    const next = () => {
      waiting.shift()?.compute();
      if (waiting.length) drawn = setTimeout(next);
      else draw();
    };
    const draw = () => {
      const extents = models[current].classes ? [] : visible.map((profile) => profile.extent());
      const extent = [Math.min(...extents.map(([low]) => low)), Math.max(...extents.map(([, high]) => high))];
      visible.forEach((profile) => profile.draw(extent));
    };
    next();
  }

  function speak(sentence) {
    clearTimeout(spoken);
    spoken = setTimeout(() => { status.textContent = sentence; }, QUIET);
  }

  function chooseModel(at) {
    current = at;
    walkers[at] ??= new hedgerow.Walker(models[at]);
    panel.about.replaceChildren(...about(models[at]).map((sentence) => h("p", { class: "whatif-note" }, sentence)));
    panel.whySummary.textContent = walkers[at].forest.nTrees === 1 ? "Its path" : "Columns on its paths";
    refresh();
  }

  function startFrom(row) {
    start = row;
    values = Float64Array.from(row);
    refresh();
  }

  // Rows in doubt with all digits of their values, then others that the page has, with six.
  function rowsOfPage() {
    const all = hedgerow.data ?? JSON.parse(byId("report-data")?.textContent ?? "{}");
    const doubtful = all.rows?.items ?? [], { table } = all;
    if (table?.columns.length !== columns.length) return { doubtful, others: [] };
    const known = new Set(doubtful.map((item) => item.row));
    const others = table.rows.map((row, i) => ({ row, label: `row ${table.labels[i]}`, values: table.values[i] })).filter(({ row }) => !known.has(row));
    return { doubtful, others: others.slice(0, MOST_OTHERS) };
  }

  function chooser() {
    const { doubtful, others } = rowsOfPage(), rows = [...doubtful, ...others];
    const options = (some, from) => some.map((row, i) => h("option", { value: from + i }, row.label));
    panel.rows = h("select", { id: "whatif-row" }, h("option", { value: "" }, data.made_up ? "a made-up row" : "a typical row"),
      doubtful.length ? h("optgroup", { label: "rows in doubt" }, options(doubtful, 0)) : null,
      others.length ? h("optgroup", { label: "other rows of this page" }, options(others, doubtful.length)) : null);
    panel.rows.addEventListener("change", () => startFrom(panel.rows.value === "" ? typical : encodeAll(rows[Number(panel.rows.value)].values)));
    panel.models = h("select", { id: "whatif-model" }, models.map((model, i) => h("option", { value: i }, model.name)));
    panel.models.addEventListener("change", () => chooseModel(Number(panel.models.value)));
    return h("div", { class: "tools" },
      h("label", { for: "whatif-row" }, "Start from ", panel.rows),
      models.length > 1 ? h("label", { for: "whatif-model" }, "Model ", panel.models) : null,
      h("button", { class: "button", type: "button", on: { click: () => startFrom(start) } }, "Undo all changes"));
  }

  function columnList() {
    const first = order.slice(0, FIRST), rest = order.slice(FIRST);
    const add = (host, found) => found.forEach((j) => {
      controls.set(j, control(j));
      host.append(controlOf(j).box);
    });
    const list = h("div", { class: "whatif-columns" });
    add(list, first);
    if (!rest.length) return [list];
    const more = h("div", { class: "whatif-columns" });
    const folded = h("details", null, h("summary", null, `${counted(rest.length, "more column")}`));
    folded.addEventListener("toggle", () => {
      if (!folded.open || more.childElementCount) return drawProfiles();
      if (rest.length > SEARCHED) folded.append(search(rest));
      folded.append(more);
      add(more, rest);
      rest.forEach((j) => controlOf(j).update());
      drawProfiles();
    });
    return [list, folded];
  }

  function search(rest) {
    return h("div", { class: "tools" }, h("input", { type: "search", placeholder: "Find a column", "aria-label": "Find a column to change", on: { input: (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      for (const j of rest) controlOf(j).box.hidden = !columns[j].name.toLowerCase().includes(wanted);
      drawProfiles();
    } } }));
  }

  function listen() {
    document.addEventListener("hedgerow:whatif", ({ detail }) => {
      const at = models.findIndex((model) => model.name === detail.model);
      if (at >= 0) { panel.models.value = at; chooseModel(at); }
      const known = detail.row !== undefined && panel.rows.options[detail.row + 1] !== undefined;
      panel.rows.value = known ? detail.row : "";
      startFrom(encodeAll(detail.values ?? rowsOfPage().doubtful[detail.row].values));
      const title = byId("whatif-title");
      title.tabIndex = -1;
      title.focus({ preventScroll: true });
      byId("whatif").scrollIntoView();
    });
  }

  function begin() {
    root = byId("whatif-root");
    const content = byId("whatif-data")?.textContent;
    if (!root || !content) return;
    data = JSON.parse(content);
    ({ models, columns } = data);
    const notHere = absent().map((sentence) => h("p", { class: "whatif-note" }, sentence));
    if (!models?.length) return root.replaceChildren(...notHere);
    for (const column of columns) column.codeOf = new Map(column.categories.map((category, code) => [text(category), code]));
    const used = (j) => Number(models.some((model) => model.splits_on.includes(j)));
    order = columns.map((_, j) => j).sort((a, b) => used(b) - used(a) || columns[b].importance - columns[a].importance || a - b);
    typical = columns.map((column) => column.typical ?? NaN);
    start = typical;
    values = Float64Array.from(typical);
    walkers = [];
    controls = new Map();
    current = Math.max(0, models.findIndex((model) => model.name === data.start));
    panel = {
      answer: h("div", null), changes: h("div", { class: "whatif-changes" }), about: h("div", null),
      whySummary: h("summary", null), whyBody: h("div", null),
    };
    panel.why = h("details", { on: { toggle: () => { if (panel.why.open) showWhy(); } } }, panel.whySummary, panel.whyBody);
    status = h("p", { class: "whatif-hidden", role: "status", "aria-live": "polite" });
    root.replaceChildren(
      chooser(),
      h("div", { class: "whatif" },
        h("div", { class: "whatif-answer panel", role: "region", "aria-label": "Answer" }, panel.answer, panel.changes, panel.why, panel.about),
        h("div", { class: "whatif-controls" }, columnList())),
      status, ...notHere);
    panel.models.value = current;
    chooseModel(current);
    listen();
  }

  begin();
})();
