// Elements and numbers. The scripts of the page are classic scripts that share the namespace `hedgerow`.
(() => {
  "use strict";
  const hedgerow = (globalThis.hedgerow ??= {});
  const SVG = "http://www.w3.org/2000/svg";

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === undefined) continue;
      if (name.startsWith("aria-")) element.setAttribute(name, String(value)); // false has a meaning there
      else if (value === false) continue;
      else if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
      else if (name === "text") element.textContent = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat(Infinity)) if (child !== null && child !== undefined && child !== false) element.append(child);
    return element;
  }

  /** An HTML element: h("button", {class: "button", on: {click}}, "Open"). Text is never read as markup. */
  hedgerow.h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  /** An SVG element. */
  hedgerow.s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  hedgerow.byId = (id) => document.getElementById(id);

  /** A number with at most so many significant digits, thousands apart. */
  hedgerow.number = (value, digits = 4) => {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(Math.max(0, digits - 2)).replace("e", " e");
    if (Number.isInteger(value)) return value.toLocaleString("en");
    return Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: Math.max(digits, 1) });
  };
  hedgerow.percent = (share, digits = 1) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)}\u00a0%`);
  hedgerow.counted = (n, noun, plural) => `${hedgerow.number(n)} ${n === 1 ? noun : (plural ?? `${noun}s`)}`;
  hedgerow.cell = (value) => (value === null ? "missing" : typeof value === "number" ? hedgerow.number(value, 6) : String(value));
  const measure = document.createElement("canvas").getContext("2d");
  let family;
  /** Width of a text in pixels, in the font of the page. */
  hedgerow.widthOf = (text, size, weight = 400) => {
    family ??= getComputedStyle(document.body).fontFamily;
    measure.font = `${weight} ${size}px ${family}`;
    return measure.measureText(text).width;
  };
  /** A text that is no wider than so many pixels; its end is left out. */
  hedgerow.fitted = (text, width, size, weight) => {
    let shown = text;
    while (shown.length > 1 && hedgerow.widthOf(shown, size, weight) > width) {
      shown = `${shown.slice(0, Math.min(shown.length - 2, Math.floor((shown.length * width) / hedgerow.widthOf(shown, size, weight))))}…`;
    }
    return shown;
  };
  hedgerow.shortened = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`);
  /** Text of a class with its colour. */
  hedgerow.label = (code) =>
    hedgerow.h("span", { class: `label c${code}` }, hedgerow.h("i", { "aria-hidden": "true" }), hedgerow.data.figures.classes[code] ?? "?");
})();
