// The tree: collapsible, zoomable, and one node selected at a time. On narrow screens it becomes an outline.
(() => {
  "use strict";
  const { s, h, byId, number, percent, counted, fitted, widthOf } = hedgerow;
  const BOX = { width: 176, height: 46, across: 212, down: 54 };
  const OUTLINE = { indent: 16, down: 52 };
  const NARROW = 640;
  const FIRST_ENDS = 14;
  const SMALLEST = 0.85; // scale at which a tree that is too wide is first shown: it can be moved

  let data, nodes, parents, depths, open, selected, host, svg, view, size;

  hedgerow.startTree = (all) => {
    data = all;
    host = byId("tree-view");
    nodes = data.tree?.nodes;
    if (!host || !nodes) return;
    parents = nodes.map(() => -1);
    depths = nodes.map(() => 0);
    nodes.forEach((node, i) => (node.children ?? []).forEach((child) => { parents[child] = i; depths[child] = depths[i] + 1; }));
    open = new Set(firstOpen());
    selected = 0;
    tools();
    draw();
    new ResizeObserver(() => { if (size && Math.abs(size.width - host.clientWidth) > 8) draw(); }).observe(host);
  };

  // Splits that most rows meet, until so many branches end.
  function firstOpen() {
    const found = [], waiting = [0];
    const deepest = host.clientWidth < NARROW ? 6 : Math.floor((host.clientWidth / SMALLEST - BOX.width) / BOX.across);
    let ends = 1;
    while (waiting.length) {
      waiting.sort((a, b) => nodes[b].share - nodes[a].share);
      const at = waiting.shift(), children = nodes[at].children;
      if (!children || depths[at] >= deepest || (found.length > 1 && ends + children.length - 1 > FIRST_ENDS)) continue;
      found.push(at);
      ends += children.length - 1;
      waiting.push(...children);
    }
    return found;
  }

  function visible() {
    const order = [], stack = [0];
    while (stack.length) {
      const at = stack.pop();
      order.push(at);
      if (open.has(at)) stack.push(...nodes[at].children.toReversed());
    }
    return order;
  }

  // --- Layout -----------------------------------------------------------------------------------------------------

  function layout(order, width) {
    const place = new Map();
    if (width < NARROW) {
      order.forEach((at, row) => place.set(at, { x: 8 + Math.min(depths[at], 12) * OUTLINE.indent, y: 8 + row * OUTLINE.down }));
      return { place, outline: true, width, height: 16 + order.length * OUTLINE.down };
    }
    let row = 0;
    for (const at of order) if (!open.has(at)) place.set(at, { x: depths[at] * BOX.across + 12, y: 10 + row++ * BOX.down });
    const tall = row * BOX.down > 3 * globalThis.innerHeight; // then a node in the middle of its branches would stand alone
    for (const at of order.toReversed()) {
      if (!open.has(at)) continue;
      const ys = nodes[at].children.map((child) => place.get(child).y);
      place.set(at, { x: depths[at] * BOX.across + 12, y: tall ? ys[0] : (ys[0] + ys.at(-1)) / 2 });
    }
    const deepest = Math.max(...order.map((at) => depths[at]));
    return { place, outline: false, width: deepest * BOX.across + BOX.width + 24, height: row * BOX.down + 14 };
  }

  // --- Drawing ----------------------------------------------------------------------------------------------------

  function draw({ focus = false, keep = false } = {}) {
    const order = visible(), shown = host.clientWidth || 900;
    const found = layout(order, shown);
    const path = new Set();
    for (let at = selected; at >= 0; at = parents[at]) path.add(at);
    const edges = s("g", { "aria-hidden": "true" }), boxes = s("g", { role: "presentation" });
    svg = s("svg", { role: "tree", "aria-label": `Tree with ${counted(data.tree.leaves, "leaf", "leaves")}: arrow keys move, right opens, left closes, Enter selects` }, edges, boxes);
    for (const at of order) {
      const here = found.place.get(at), parent = parents[at];
      if (parent >= 0) edges.append(edge(found.place.get(parent), here, at, path, found.outline));
      boxes.append(box(at, here, found.outline ? Math.max(150, shown - here.x - 10) : BOX.width));
    }
    const old = view;
    size = { width: shown, ...{ content: found } };
    const scale = found.outline ? 1 : Math.min(1.1, Math.max(SMALLEST, shown / found.width));
    const height = found.outline ? found.height : Math.min(Math.max(found.height * scale, 160), Math.max(420, globalThis.innerHeight * 0.75));
    svg.setAttribute("height", Math.round(height));
    const root = found.place.get(0);
    view = { x: 0, y: Math.max(0, Math.min(root.y + 23 - height / scale / 2, found.height - height / scale)), scale, height };
    if (keep && old && !found.outline) view = { ...old, height, y: Math.min(old.y, Math.max(0, found.height - 60)) };
    move();
    host.replaceChildren(svg);
    gestures(found.outline);
    if (focus) boxes.querySelector(`[data-node="${selected}"]`)?.focus({ preventScroll: found.outline ? false : true });
    if (focus && !found.outline) bringIn(found.place.get(selected));
  }

  const move = () => svg.setAttribute("viewBox", `${view.x.toFixed(1)} ${view.y.toFixed(1)} ${(size.width / view.scale).toFixed(1)} ${(view.height / view.scale).toFixed(1)}`);

  function bringIn({ x, y }) {
    const wide = size.width / view.scale, tall = view.height / view.scale;
    if (x < view.x) view.x = x - 20;
    if (x + BOX.width > view.x + wide) view.x = x + BOX.width - wide + 20;
    if (y < view.y) view.y = y - 20;
    if (y + BOX.height > view.y + tall) view.y = y + BOX.height - tall + 20;
    move();
  }

  function edge(from, to, at, path, outline) {
    const on = path.has(at) ? " on" : "";
    const thick = 1 + 7 * nodes[at].share;
    const d = outline
      ? `M${from.x + 8} ${from.y + BOX.height}V${to.y + BOX.height / 2}H${to.x}`
      : `M${from.x + BOX.width} ${from.y + BOX.height / 2}C${from.x + BOX.width + 18} ${from.y + BOX.height / 2} ${to.x - 18} ${to.y + BOX.height / 2} ${to.x} ${to.y + BOX.height / 2}`;
    return s("path", { class: `edge${on}`, d, "stroke-width": outline ? 1.5 : thick.toFixed(2) });
  }

  function box(at, { x, y }, width) {
    const node = nodes[at], inner = Boolean(node.children), closed = inner && !open.has(at);
    const title = inner ? `${node.subject}?` : node.hidden ? `${said(node)} (${counted(node.hidden, "leaf", "leaves")} below)` : said(node);
    const parent = parents[at];
    const condition = parent >= 0 ? `${nodes[parent].subject} ${node.condition}` : "all rows";
    const share = percent(node.share, node.share < 0.0995 ? 1 : 0);
    const group = s("g", {
      class: `node${at === selected ? " selected" : ""}`, role: "treeitem", tabindex: at === selected ? 0 : -1, "data-node": at, transform: `translate(${x} ${y})`,
      "aria-level": depths[at] + 1, "aria-selected": at === selected, ...(inner ? { "aria-expanded": !closed } : {}), "aria-label": `${condition}: ${inner ? `split on ${node.subject}` : said(node)}, ${describe(node)}`,
    },
      s("title", { text: `${condition}\n${inner ? `splits on ${node.subject}; most: ${said(node)}` : said(node)}\n${describe(node)}` }),
      s("rect", { class: "box", width, height: BOX.height, rx: 8 }),
      s("text", { class: "condition", x: 10, y: 15, text: conditionWithin(at, width - 28 - widthOf(share, 11)) }),
      s("text", { class: "says", x: 10, y: 31, text: fitted(title, width - 34, 13, 600) }),
      s("text", { class: "count", x: width - 10, y: 15, text: share }),
      inner ? s("text", { class: "toggle", x: width - 10, y: 31, text: closed ? "▸" : "▾" }) : null,
      bar(node, width),
    );
    group.addEventListener("click", () => choose(at, inner));
    group.addEventListener("keydown", (event) => key(event, at));
    return group;
  }

  const said = (node) => (node.counts ? node.answer : number(node.mean, 4));

  // The value of a condition is told before the whole name of its column.
  function conditionWithin(at, width) {
    if (parents[at] < 0) return "all rows";
    const { subject } = nodes[parents[at]], rest = ` ${nodes[at].condition}`;
    const room = width - widthOf(rest, 11.5);
    return room > 24 ? fitted(subject, room, 11.5) + rest : fitted(subject + rest, width, 11.5);
  }

  function describe(node) {
    if (node.counts) {
      const total = node.counts.reduce((a, b) => a + b, 0);
      const parts = node.counts.map((count, code) => [count, data.figures.classes[code]]).filter(([count]) => count).sort((a, b) => b[0] - a[0]);
      const said = parts.slice(0, 6).map(([count, name]) => `${number(count)} ${name}`).join(", ");
      return `${number(total)} rows: ${said}${parts.length > 6 ? ", …" : ""}`;
    }
    return `${number(node.n)} rows: mean ${number(node.mean)}, deviation ${number(node.deviation, 3)}`;
  }

  function bar(node, width) {
    const group = s("g", { "aria-hidden": "true" }), all = width - 20;
    if (node.counts) {
      const total = node.counts.reduce((a, b) => a + b, 0) || 1;
      let x = 10;
      node.counts.forEach((count, code) => {
        const wide = (count / total) * all;
        if (count) group.append(s("rect", { class: `bar c${code}`, x, y: 37, width: Math.max(0.8, wide), height: 4.5 }));
        x += wide;
      });
    } else {
      const root = nodes[0], spread = range();
      const at = (value) => 10 + Math.min(1, Math.max(0, (value - spread[0]) / (spread[1] - spread[0] || 1))) * all;
      group.append(
        s("line", { class: "axis", x1: 10, x2: 10 + all, y1: 40, y2: 40, "stroke-opacity": 0.35 }),
        s("rect", { class: "spread", x: at(node.mean - node.deviation), y: 37.5, width: Math.max(1, at(node.mean + node.deviation) - at(node.mean - node.deviation)), height: 5, rx: 2 }),
        s("circle", { class: "dot", cx: at(node.mean), cy: 40, r: 3.4 }),
        s("line", { class: "range", x1: at(root.mean), x2: at(root.mean), y1: 37, y2: 43 }),
      );
    }
    return group;
  }

  let ends;
  const range = () => (ends ??= [Math.min(...nodes.map((node) => node.mean - node.deviation)), Math.max(...nodes.map((node) => node.mean + node.deviation))]);

  // --- Pointer, keys and buttons --------------------------------------------------------------------------------------

  function choose(at, toggles) {
    const again = selected === at;
    selected = at;
    if (toggles && (again || !open.has(at))) open.has(at) ? open.delete(at) : open.add(at);
    draw({ focus: true, keep: true });
    detail();
  }

  function key(event, at) {
    const order = visible(), row = order.indexOf(at), node = nodes[at];
    const go = (to) => { if (to >= 0 && to !== undefined) { selected = to; draw({ focus: true, keep: true }); } };
    const actions = {
      ArrowDown: () => go(order[Math.min(order.length - 1, row + 1)]),
      ArrowUp: () => go(order[Math.max(0, row - 1)]),
      Home: () => go(0),
      End: () => go(order.at(-1)),
      ArrowRight: () => { if (!node.children) return; if (open.has(at)) go(node.children[0]); else { open.add(at); go(at); } },
      ArrowLeft: () => { if (open.has(at)) { open.delete(at); go(at); } else go(parents[at]); },
      Enter: () => choose(at, Boolean(node.children)),
      " ": () => choose(at, Boolean(node.children)),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  function zoom(by, x = 0.5, y = 0.5) {
    const scale = Math.min(3, Math.max(0.15, view.scale * by));
    view.x += (size.width * x) / view.scale - (size.width * x) / scale;
    view.y += (view.height * y) / view.scale - (view.height * y) / scale;
    view.scale = scale;
    move();
  }

  function gestures(outline) {
    if (outline) return;
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      const area = svg.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, (event.clientX - area.x) / area.width, (event.clientY - area.y) / area.height);
    }, { passive: false });
    let start = null;
    svg.addEventListener("pointerdown", (event) => { if (event.button === 0) start = { x: event.clientX, y: event.clientY, view: { ...view }, moved: false }; });
    svg.addEventListener("pointermove", (event) => {
      if (!start || !event.buttons) return;
      const x = event.clientX - start.x, y = event.clientY - start.y;
      if (!start.moved && Math.hypot(x, y) < 5) return;
      if (!start.moved) { start.moved = true; svg.setPointerCapture(event.pointerId); svg.classList.add("dragging"); }
      view.x = start.view.x - x / view.scale;
      view.y = start.view.y - y / view.scale;
      move();
    });
    const end = (event) => {
      if (start?.moved) svg.addEventListener("click", (click) => click.stopPropagation(), { capture: true, once: true });
      start = null;
      svg.classList.remove("dragging");
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
  }

  function tools() {
    const button = (text, click, label) => h("button", { class: "button", type: "button", "aria-label": label ?? text, on: { click } }, text);
    const inner = nodes.map((_, i) => i).filter((i) => nodes[i].children);
    byId("tree-tools").append(
      button("+", () => zoom(1.25), "Zoom in"), button("−", () => zoom(1 / 1.25), "Zoom out"),
      button("Fit", () => { draw(); const found = size.content; if (found.outline) return; view.scale = Math.min(1.1, size.width / found.width, view.height / found.height); view.x = 0; view.y = 0; move(); }, "Fit the tree into the frame"),
      button("Open all", () => { open = new Set(inner); draw(); }), button("Close all", () => { open = new Set(); selected = 0; draw(); }),
      button("Start again", () => { open = new Set(firstOpen()); selected = 0; draw(); detail(); }, "Show the tree as at first"),
      h("small", { class: "hint" }, "Drag to move it; Ctrl and the wheel zoom."),
    );
  }

  // --- The selected node ----------------------------------------------------------------------------------------------

  function rule(at) {
    const found = [];
    for (; parents[at] >= 0; at = parents[at]) found.unshift(`${nodes[parents[at]].subject} ${nodes[at].condition}`);
    return found;
  }

  function detail() {
    const node = nodes[selected], conditions = rule(selected);
    const panel = byId("tree-detail");
    const kind = node.children ? "Node" : node.hidden ? "Branches" : "Leaf";
    const rows = node.leaf === undefined ? [] : (data.leaves?.[node.leaf] ?? []);
    panel.replaceChildren(
      h("h3", null, `${kind}: ${said(node)}`),
      h("p", { class: "lead" }, `${describe(node)} (${percent(node.share)} of all)`),
      h("ul", { class: "rule" }, conditions.length ? conditions.map((text) => h("li", null, text)) : h("li", null, "all rows")),
      ...(rows.length ? [h("h4", null, `Some of its rows`), hedgerow.rowsTable(rows, pathColumns(conditions))] : []),
    );
  }

  // Columns of the path first, so that the table shows what the rule is about.
  function pathColumns(conditions) {
    const names = data.figures.columns.map((column) => column.name);
    const used = names.map((name, j) => [conditions.findIndex((text) => text.startsWith(`${name} `)), j]).filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0]).map(([, j]) => j);
    return used;
  }

  /** Show a leaf from elsewhere on the page. */
  hedgerow.selectNode = (at) => {
    for (let up = parents[at]; up >= 0; up = parents[up]) open.add(up);
    choose(at, false);
  };
})();
