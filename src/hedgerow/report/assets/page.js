// Starts the page: reads its data, draws every section, and fills the contents.
(() => {
  "use strict";
  const { h, byId } = hedgerow;

  function start() {
    hedgerow.data = JSON.parse(byId("report-data").textContent);
    contents();
    hedgerow.startTooltips();
    const ofRows = ["startQuality", "startGroups", "startRows", "startColumns"];
    for (const name of ["startTree", ...(hedgerow.data.figures.n_rows ? ofRows : [])]) hedgerow[name](hedgerow.data);
    hedgerow.whatif?.start?.();
  }

  function contents() {
    const sections = [...document.querySelectorAll("main > section[data-nav]")];
    const links = sections.map((section) => h("a", { href: `#${section.id}` }, section.dataset.nav));
    byId("contents").append(...links.map((link) => h("li", null, link)));
    const here = new IntersectionObserver(() => {
      const current = sections.findLastIndex((section) => section.getBoundingClientRect().top < 160);
      links.forEach((link, i) => (i === Math.max(0, current) ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    }, { rootMargin: "-150px 0px -60% 0px", threshold: [0, 1] });
    sections.forEach((section) => here.observe(section));
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
