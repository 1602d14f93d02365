// Tooltips at once and in the page's own style: the text of an SVG title, shown beside the pointer.
(() => {
  "use strict";
  const { h } = hedgerow;
  const GAP = 14;

  hedgerow.startTooltips = () => {
    const tip = h("div", { class: "tooltip", role: "presentation", hidden: true });
    document.body.append(tip);
    let shown = null;

    const hide = () => {
      shown = null;
      tip.hidden = true;
    };

    // The browser would show a title too, a second later: its text moves to an attribute.
    function textOf(element) {
      const title = [...element.children].find((child) => child.localName === "title");
      if (title) {
        element.setAttribute("data-tip", title.textContent);
        title.remove();
      }
      return element.getAttribute("data-tip");
    }

    function owner(target) {
      for (let at = target; at instanceof SVGElement; at = at.parentNode) if (textOf(at)) return at;
      return null;
    }

    function place(event) {
      const { width, height } = tip.getBoundingClientRect();
      const right = event.clientX + GAP + width > document.documentElement.clientWidth;
      const below = event.clientY + GAP + height > globalThis.innerHeight;
      tip.style.left = `${Math.max(4, right ? event.clientX - GAP - width : event.clientX + GAP)}px`;
      tip.style.top = `${Math.max(4, below ? event.clientY - GAP - height : event.clientY + GAP)}px`;
    }

    document.addEventListener("pointermove", (event) => {
      const found = owner(event.target);
      if (!found) return hide();
      if (found !== shown) {
        shown = found;
        tip.textContent = found.getAttribute("data-tip");
        tip.hidden = false;
      }
      place(event);
    });
    document.addEventListener("pointerleave", hide);
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
    document.addEventListener("scroll", hide, { passive: true });
  };
})();
