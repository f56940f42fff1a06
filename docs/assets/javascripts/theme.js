/* What the theme leaves out for readers who press keys, or listen.

   - Menu, search, the groups of the navigation and the switch of the colours are buttons,
     for every key, and the focus goes where they lead.
   - What was copied, and how much was found, is said.
   - A question finds what it is about.
   - A single key that leads somewhere can be switched off.
*/

(() => {
  "use strict";

  // ---- Keys -----------------------------------------------------------------------------

  const KEYS = "jknp,.sf/";
  const STORED = "keys are off";

  function areOff() {
    return localStorage.getItem(STORED) !== null;
  }

  /* Before anybody else hears of it. With Alt, a letter is a command of the browser. */
  window.addEventListener(
    "keydown",
    event => {
      const box = event.target.closest?.("input, textarea, select");
      // While the search is open, each letter is one more of the query.
      const typing = box || document.querySelector("#__search:checked");
      if (typing || event.ctrlKey || event.metaKey || event.key.length > 1) return;
      if (KEYS.includes(event.key) && (event.altKey || areOff()))
        event.stopImmediatePropagation();
    },
    true
  );

  /* The page that says what the keys do has the switch. */
  function offerSwitch(place) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "book-switch";
    const say = () =>
      (button.textContent = areOff() ? "switch them on again" : "switch them off");
    button.addEventListener("click", () => {
      if (areOff()) localStorage.removeItem(STORED);
      else localStorage.setItem(STORED, "");
      say();
    });
    say();
    place.replaceChildren(button);
  }

  // ---- Buttons --------------------------------------------------------------------------

  /* A label does something by the box that it is for, and only for who clicks. So what is
     in it becomes a button, and the rest of it stays as it is. */
  function fill(label, box, name) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "book-button";
    button.append(...label.childNodes);
    label.append(button);
    label.removeAttribute("tabindex");
    if (name) button.ariaLabel = name;
    button.addEventListener("click", () => box.click());
    return button;
  }

  /* What it opens. */
  function makeButton(label, name) {
    const box = label && document.getElementById(label.htmlFor);
    if (!box || label.querySelector("button")) return null;
    const button = fill(label, box, name);
    const say = () => (button.ariaExpanded = String(box.checked));
    box.addEventListener("change", say);
    say();
    return button;
  }

  /* The colours are two radio buttons, unseen, each with a label that leads to the other.
     Space did nothing there, and in the dark the Tab key led to the one whose label is not
     shown, and which says the wrong thing. */
  function makeSwitch(form) {
    for (const option of form.querySelectorAll(".md-option")) {
      const label = option.nextElementSibling;
      const other = label && document.getElementById(label.htmlFor);
      if (!other || label.querySelector("button")) continue;
      option.hidden = true;
      // The theme answers this key as well, and would switch back.
      fill(label, other, label.title).addEventListener("keydown", event => {
        if (event.key === "Enter") event.stopPropagation();
      });
    }
    form.addEventListener("change", () => {
      __md_set("__chosen", true);
      form.querySelector("label:not([hidden]) button")?.focus();
    });
  }

  /* In the menu of a small screen, a group that opens lies over the one it is in. Who has
     opened it by a key is in it, and who goes back is where they came from. */
  function enterGroups(small) {
    for (const box of document.querySelectorAll(".md-nav--primary .md-nav__toggle"))
      box.addEventListener("change", () => {
        const at = document.activeElement;
        if (!small.matches || !at.matches(`[for="${box.id}"] button`)) return;
        const place = box.checked ? ".md-nav > .md-nav__title" : ".md-nav__link";
        const next = box.parentElement.querySelector(`:scope > ${place} button`);
        // What opens is still on its way into sight.
        next?.focus({ preventScroll: box.checked });
      });
  }

  /* The outline of this page is such a group. What opens it says only which page it is. */
  function nameOutline() {
    const button = document.querySelector(".md-nav__link[for=__toc] button");
    const outline = document.querySelector(".md-nav--secondary");
    if (!button || !outline) return;
    button.ariaLabel = `${button.textContent.trim()}: ${outline.ariaLabel}`;
    button.ariaCurrent = "page";
  }

  /* The menu of a small screen: who opens it by a key is in it, Escape leads out, and who
     goes on beyond its end shuts it. */
  function enterMenu(button) {
    const box = document.getElementById("__drawer");
    box.addEventListener("change", () => {
      if (!box.checked || document.activeElement !== button) return;
      // Where the group of this page is open, it lies over the others.
      const open = document.querySelectorAll(
        ".md-nav--primary, .md-nav--primary .md-nav__toggle:checked ~ .md-nav"
      );
      const all = [...open[open.length - 1].querySelectorAll("a, button")];
      all.find(each => each.checkVisibility({ visibilityProperty: true }))?.focus();
    });
    document.addEventListener("keydown", event => {
      if (event.key !== "Escape" || !box.checked || !button.offsetParent) return;
      box.click();
      button.focus();
    });
    document.addEventListener("focusin", event => {
      if (!box.checked || !button.offsetParent || event.target === button) return;
      if (!event.target.closest(".md-sidebar--primary")) box.click();
    });
  }

  /* Who leaves the search by Escape is where they were before. */
  function leaveSearch() {
    const box = document.getElementById("__search");
    let before = null;
    document.addEventListener("focusin", event => {
      const [from, to] = [event.relatedTarget, event.target];
      if (to.matches(".md-search__input") && !from?.closest(".md-search")) before = from;
    });
    // Before the theme hears of it, which leaves the focus nowhere.
    window.addEventListener(
      "keydown",
      event => {
        if (event.key !== "Escape" || !box.checked) return;
        box.click();
        document.activeElement.blur();
        before?.focus({ preventScroll: true });
      },
      true
    );
  }

  // ---- Search ---------------------------------------------------------------------------

  /* Words that most questions have, and few answers. */
  const EMPTY = new Set(
    (
      "a about after am an and any are as at be been between but by can could did do does " +
      "difference for from get had has have how i if in into is it its just like me my of on " +
      "or our over should so than that the their them then there these they this to use used " +
      "using versus vs was we were what when where which while who why will with would you your"
    ).split(" ")
  );

  /* The theme looks for all words that begin like one of the query. An "a" or a 4 finds all
     that begins with it, and what is rare among that counts for much. So a question leaves
     the words that matter. A single letter or a number stands for itself, and a word counts
     for more where it is found as it was written. Who writes quotation marks or other signs
     of the search means what is written. */
  function inShort(query) {
    if (/["*~^]|\b(title|text|tags):|(^|\s)[+-][a-z]/i.test(query)) return query;
    const ends = /^[-('’]+|[?!.,:;)'’]+$/g;
    const words = query.split(/\s+/).map(word => word.replace(ends, ""));
    const left = words.filter(word => word && !EMPTY.has(word.toLowerCase()));
    if (!left.length) return query;
    const isAlone = word => /^(\w|[\d.]+(e-\d+)?)$/.test(word);
    return left.map(word => (isAlone(word) ? `${word}^1` : `${word} ${word}^2`)).join(" ");
  }

  /* What the theme tells the search. */
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message, ...rest) {
    const asks = message?.type === 2 && typeof message.data === "string";
    const said = asks ? { ...message, data: inShort(message.data) } : message;
    return postMessage.call(this, said, ...rest);
  };

  // ---- Once the page is there -----------------------------------------------------------

  function start() {
    const header = name => document.querySelector(`.md-header__button[for=${name}]`);
    const menu = makeButton(header("__drawer"), "Menu");
    if (menu) enterMenu(menu);
    if (makeButton(header("__search"), "Search")) leaveSearch();
    const colours = document.querySelector("[data-md-component=palette]");
    if (colours) makeSwitch(colours);
    // In the menu of a small screen, each group leads to a list of its own, and back. A
    // window that is made smaller, or a page larger, has that menu as well.
    const small = window.matchMedia("(max-width: 76.234375em)");
    const open = () => {
      const groups = small.matches
        ? ".md-nav__link[for], .md-nav__item .md-nav__title[for]"
        : ".md-nav__link[for][tabindex='0']";
      document.querySelectorAll(groups).forEach(label => makeButton(label));
      nameOutline();
    };
    open();
    enterGroups(small);
    small.addEventListener("change", open);
    // In the outline, more than one may be active.
    const here = ".md-nav--primary a.md-nav__link--active:not(.md-nav--secondary a)";
    document.querySelectorAll(here).forEach(link => (link.ariaCurrent = "page"));
    for (const said of document.querySelectorAll(".md-dialog__inner, .md-search-result__meta"))
      said.role = "status";
    document.querySelectorAll("[data-keys]").forEach(offerSwitch);
  }

  if (window.document$) window.document$.subscribe(start);
  else start();
})();
