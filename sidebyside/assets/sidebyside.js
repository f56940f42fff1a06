/* What an annotated page can do with scripts. Without them it is whole, only quieter.

   - Pointing at a name in the prose lights it in the code beside, and the reverse.
   - Pointing at a symbol in a formula lights its name in the code, and the reverse.
   - j and k lead to the next section and back, and the outline follows.
   - The whole module can be copied, and a formula as its TeX.
   - Pictures in a series are moved by a slider.
*/

(() => {
  "use strict";

  const NAME = /^[\p{ID_Start}_]\p{ID_Continue}*$/u;

  /* A name as Python compares it: 𝜎 is σ. */
  const nameOf = element => element.textContent.normalize("NFKC");
  const nameOfSymbol = element => element.dataset.sbs.normalize("NFKC");

  // ---- Lights -------------------------------------------------------------------------

  /* The names in a piece of code: for each, its elements. Words in strings are none. */
  function namesIn(container) {
    const names = [...container.querySelectorAll(".sbs-line *:not(.s1, .s2, .sd, .sa)")];
    return Map.groupBy(
      names.filter(each => !each.childElementCount && NAME.test(nameOf(each))),
      nameOf
    );
  }

  class Lights {
    constructor(page) {
      this.page = page;
      this.lit = [];
      this.rows = new WeakMap();

      // The symbols of the page's formulas, by the name that each stands for. Names have
      // six colours in turn.
      this.symbols = Map.groupBy(page.querySelectorAll("[data-sbs]"), nameOfSymbol);
      this.colours = new Map([...this.symbols.keys()].map((name, i) => [name, i % 6]));
      this.names = this.symbols.size ? namesIn(page) : new Map();
      this.makeReachable();

      for (const type of ["pointerover", "focusin"])
        page.addEventListener(type, event => this.show(event.target, type));
      // A finger that is lifted still means what it has tapped.
      for (const type of ["pointerout", "focusout"])
        page.addEventListener(type, event => {
          if (event.pointerType !== "touch") this.clear();
        });
    }

    /* What lights up when it is pointed at must do so for the keyboard, too. */
    makeReachable() {
      for (const symbols of this.symbols.values())
        for (const symbol of symbols) symbol.closest("sbs-math").tabIndex = 0;
      for (const row of this.page.querySelectorAll(".sbs-row")) {
        const names = this.namesOf(row);
        for (const name of this.symbols.keys()) {
          const first = names.get(name)?.[0];
          if (first && !first.closest("a")) first.tabIndex = 0;
        }
        for (const argument of row.querySelectorAll("dt > code:first-child"))
          if (names.has(nameOf(argument))) argument.tabIndex = 0;
      }
    }

    namesOf(row) {
      if (!this.rows.has(row)) this.rows.set(row, namesIn(row));
      return this.rows.get(row);
    }

    show(target, type) {
      this.clear();
      // A click puts the focus on a whole formula, but one symbol was pointed at.
      if (type === "pointerover") this.pointed = target;
      else if (this.pointed && !target.matches(":focus-visible")) target = this.pointed;
      if (!target.closest) return;
      let symbol = target.closest("[data-sbs]");
      const formula = target.closest("sbs-math");
      if (symbol) {
        // One with two names is an element in another.
        for (; symbol; symbol = symbol.parentElement.closest("[data-sbs]"))
          this.lightSymbol(nameOfSymbol(symbol));
        return;
      }
      if (formula && type === "focusin") {
        const names = [...formula.querySelectorAll("[data-sbs]")].map(nameOfSymbol);
        // Two that are far apart on the page may have one colour, and here may not.
        return [...new Set(names)].forEach((name, i) => this.lightSymbol(name, i % 6));
      }

      const row = target.closest(".sbs-row");
      const name = nameOf(target);
      if (!row || target.childElementCount || !NAME.test(name)) return;
      const inCode = target.closest(".sbs-line");
      if (inCode && this.symbols.has(name)) return this.lightSymbol(name);
      if (!inCode && !target.closest(".sbs-prose code")) return;

      // A name in prose, or one in code of which the prose beside it speaks.
      const code = this.namesOf(row).get(name) ?? [];
      const prose = [...row.querySelectorAll(".sbs-prose code")].filter(
        each => nameOf(each) === name && !each.closest("pre")
      );
      if (code.length && prose.length) this.light([...code, ...prose], "");
    }

    lightSymbol(name, colour = this.colours.get(name)) {
      const elements = [...this.symbols.get(name), ...(this.names.get(name) ?? [])];
      this.light(elements, colour);
    }

    light(elements, colour) {
      for (const element of elements) element.dataset.sbsLit = colour;
      this.lit.push(...elements);
    }

    clear() {
      for (const element of this.lit) delete element.dataset.sbsLit;
      this.lit = [];
    }
  }

  // ---- From section to section ----------------------------------------------------------

  /* A row is a section, and so is what has a heading in the prose of one. On a page that
     was made from no module, headings are all there is. */
  const HEADINGS = ":is(h1, h2, h3, h4, h5, h6)";
  const STOPS =
    `.sbs-row, .sbs-prose ${HEADINGS}[id], ` +
    `.md-content__inner:not(:has(.sbs)) ${HEADINGS}[id]`;

  let reached = null;

  function go(step) {
    const stops = [...document.querySelectorAll(STOPS)];
    const header = document.querySelector(".md-header")?.offsetHeight ?? 0;
    const tops = stops.map(stop => stop.getBoundingClientRect().top - header);
    // As high as a stop comes to stand, and a little more.
    let current = tops.findLastIndex(top => top <= 32);
    // A title is reached with its page, and the first section below one is not.
    if (current < 0 && stops[0]?.matches("h1, :has(> h1)")) current = 0;
    // At its foot a page scrolls no further, and the last stops stand lower than that.
    const foot = document.documentElement.scrollHeight - window.innerHeight;
    if (window.scrollY > foot - 2 && reached?.contains(document.activeElement))
      current = Math.max(current, stops.indexOf(reached));
    // Back means first to the beginning of the section that is being read.
    const next = stops[step < 0 && tops[current] < -32 ? current : current + step];
    if (!next) return;
    reached = next;
    const target = next.querySelector(":scope > [id]") ?? next;
    // A heading says where one is. The sign beside it says nothing but that it is one.
    const own = `:scope > ${HEADINGS}`;
    const heading = next.matches(HEADINGS) ? next : next.querySelector(own);
    if (heading) heading.tabIndex = -1;
    next.scrollIntoView({ block: "start" });
    (heading ?? next.querySelector(".sbs-link a"))?.focus({ preventScroll: true });
    if (next.matches(".sbs-row")) openLinks(next);
    if (target.id) history.replaceState(history.state, "", `#${target.id}`);
  }

  /* On its way through a page, the Tab key stops once at each place that the code leads
     to. Whoever comes to a section with a key means to read it, and finds them all there. */
  function openLinks(row) {
    const met = new Set();
    for (const link of row.querySelectorAll(".sbs-line a")) {
      if (!met.has(link.href)) link.removeAttribute("tabindex");
      met.add(link.href);
    }
  }

  document.addEventListener("keydown", event => {
    const box = event.target.closest?.("input, textarea, select, [contenteditable]");
    // While the search is open, the theme takes each letter for one more of the query.
    const typing = box || document.querySelector("#__search:checked");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") go(1);
    if (event.key === "k") go(-1);
  });

  // ---- Copying --------------------------------------------------------------------------

  /* A page opened from a folder may not read the file beside it, but its reader can. */
  function offerCopy(paragraph) {
    if (!location.protocol.startsWith("http") || !navigator.clipboard) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy module";
    button.addEventListener("click", async () => {
      button.ariaLive = "polite";
      try {
        const text = fetch(paragraph.querySelector("a").href).then(response => {
          if (!response.ok) throw new Error(response.statusText);
          return response.text();
        });
        // Safari lets a click write to the clipboard, and not what comes after it. So it is
        // given a promise at once.
        if (window.ClipboardItem) {
          const blob = text.then(each => new Blob([each], { type: "text/plain" }));
          await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
        } else await navigator.clipboard.writeText(await text);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Could not copy";
      }
      setTimeout(() => {
        button.ariaLive = "off"; // only what has happened is said
        button.textContent = "Copy module";
      }, 2000);
    });
    paragraph.append(button);
  }

  /* A formula is there twice, for the eye and for the ear, and in pieces. */
  document.addEventListener("copy", event => {
    const selection = getSelection();
    // What is in a box is no part of the selection in every browser, and that may be left
    // from before.
    if (selection.isCollapsed || event.target.closest?.("input, textarea")) return;
    const around = node => (node.closest ? node : node.parentElement)?.closest("sbs-math");
    const copy = document.createElement("div");
    // Firefox makes several ranges of one with something in it that can't be selected.
    for (let i = 0; i < selection.rangeCount; i++) {
      const range = selection.getRangeAt(i).cloneRange();
      const [first, last] = [around(range.startContainer), around(range.endContainer)];
      if (first) range.setStartBefore(first);
      if (last) range.setEndAfter(last);
      copy.append(range.cloneContents());
    }
    const formulas = copy.querySelectorAll("sbs-math");
    if (!formulas.length) return;
    for (const each of copy.querySelectorAll(".headerlink")) each.remove();
    for (const each of formulas) {
      const dollars = each.className ? "$$" : "$";
      each.textContent = dollars + each.querySelector("annotation").textContent + dollars;
    }
    // Only what is on the page has lines.
    document.body.append(copy);
    event.clipboardData.setData("text/plain", copy.innerText);
    copy.remove();
    // For a letter or a document, with its links, which begin at this page no longer.
    for (const each of copy.querySelectorAll("a[href]")) each.setAttribute("href", each.href);
    for (const each of copy.querySelectorAll("img")) each.setAttribute("src", each.src);
    event.clipboardData.setData("text/html", copy.innerHTML);
    event.preventDefault();
  });

  // ---- Pictures that move ---------------------------------------------------------------

  /* Of pictures that belong together, one is there, and a slider leads to the others. */
  function move(series) {
    const pictures = [...series.children];
    // A plugin may have put each of them into a link.
    const images = pictures.map(each => each.querySelector("img") ?? each);
    const label = document.createElement("label");
    const slider = document.createElement("input");
    const title = document.createElement("output");
    Object.assign(slider, { type: "range", max: pictures.length - 1, value: 0 });
    slider.ariaLabel = "Move the picture";
    const show = () => {
      pictures.forEach((each, i) => (each.hidden = i !== slider.valueAsNumber));
      const picture = images[slider.valueAsNumber];
      title.textContent = picture.title;
      slider.ariaValueText = `${picture.title}: ${picture.alt}`;
    };
    title.ariaLive = "off"; // the slider says it
    slider.addEventListener("input", show);
    const longest = Math.max(...images.map(each => each.title.length));
    title.style.minWidth = `min(50%, ${longest}ch)`;
    // The others are fetched as soon as somebody is about to ask for them.
    for (const type of ["pointerenter", "focusin"])
      series.addEventListener(type, () => {
        for (const each of images) each.loading = "eager";
      });
    label.append(slider, title);
    series.append(label);
    series.dataset.sbsMoves = "";
    show();
  }

  /* The theme makes a landmark of each copy button, sixty on a page; and an article of
     what a result of its search says, so that the link around it has no name. */
  const LOUD = "nav.md-code__nav, .md-search-result__article";

  function quieten() {
    document.querySelectorAll(LOUD).forEach(each => each.setAttribute("role", "none"));
  }

  // ---- The outline ----------------------------------------------------------------------

  /* A long outline does not fit into the window. What is being read stays in sight; the
     theme sees to that only where the outline has a column of its own. */
  function follow() {
    const outline = document.querySelector(".md-nav--secondary");
    const frame = outline?.closest(".md-sidebar__scrollwrap");
    if (!frame || "sbsFollows" in outline.dataset) return;
    outline.dataset.sbsFollows = "";
    let last = null;
    new MutationObserver(() => {
      const active = [...outline.querySelectorAll(".md-nav__link--active")].pop();
      if (!active || active === last) return;
      last = active;
      const at = active.getBoundingClientRect();
      const around = frame.getBoundingClientRect();
      if (at.top < around.top + 60 || at.bottom > around.bottom - 20)
        frame.scrollTop += at.top - around.top - around.height / 2;
    }).observe(outline, { subtree: true, attributes: true, attributeFilter: ["class"] });
  }

  // ---- Once the page is there -----------------------------------------------------------

  function start() {
    const page = document.querySelector(".sbs");
    if (page && !page.dataset.sbsReady) {
      page.dataset.sbsReady = "";
      new Lights(page);
      document.querySelectorAll(".sbs-source").forEach(offerCopy);
    }
    document.querySelectorAll(".sbs-series:not([data-sbs-moves])").forEach(move);
    quieten();
    follow();
  }

  new MutationObserver(quieten).observe(document.documentElement, {
    childList: true,
    subtree: true,
  });
  if (window.document$) window.document$.subscribe(start);
  else if (document.readyState === "loading")
    document.addEventListener("DOMContentLoaded", start);
  else start();
})();
