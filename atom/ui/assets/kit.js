// Shows markup that Python made (all text in it is escaped there), and carries clicks back.
// A door is an <a data-go> with a real address: a plain click moves inside the app without loading
// it anew; a click with a modifier, or from the context menu, opens the same address elsewhere.

(() => {
// One sheet for all pieces: each is in a shadow root of its own, which the page's styles don't reach.
const LOOK = new CSSStyleSheet();
LOOK.replaceSync(STYLES);

function sameKind(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName &&
    (a.nodeType !== 1 || (a.id || "") === (b.id || ""));
}

// Change `from` into `to` in place, so that scroll positions, focus and open folds stay.
function morph(from, to) {
  const wanted = Array.from(to.childNodes);
  let at = from.firstChild;
  for (const next of wanted) {
    if (at && sameKind(at, next)) {
      if (at.nodeType === 1) {
        for (const { name } of Array.from(at.attributes)) {
          if (!next.hasAttribute(name) && !(name === "open" && at.nodeName === "DETAILS")) {
            at.removeAttribute(name);
          }
        }
        for (const { name, value } of Array.from(next.attributes)) {
          if (at.getAttribute(name) !== value) {
            at.setAttribute(name, value);
            if (name === "value" && at.nodeName === "INPUT") at.value = value;
          }
        }
        if (at.dataset && at.dataset.case !== undefined && at.dataset.case !== at.__case) {
          at.__case = at.dataset.case;
          at.querySelectorAll("details").forEach((d) => (d.open = d.dataset.open === "1"));
        }
        morph(at, next);
      } else if (at.nodeValue !== next.nodeValue) {
        at.nodeValue = next.nodeValue;
      }
      at = at.nextSibling;
    } else {
      from.insertBefore(next, at);
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

// A number and its unit stay on one line. Python's words keep plain spaces: they are stored, sent and
// saved as well. What models and people wrote stays as it is.
const UNIT = /(\d) (?=(?:%|s|ms|min|h|px|[KMG]B|°[CF])(?![\p{L}\p{N}]))|\b(n) (?=\d)/gu;

function unbroken(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement?.closest("code, pre, style, textarea, .said")) continue;
    node.nodeValue = node.nodeValue.replace(UNIT, "$1$2\u00a0");
  }
}

function light(root, name) {
  root.querySelectorAll("[data-light]").forEach((node) => {
    node.classList.toggle("lit", name !== null && node.dataset.light === name);
  });
  root.querySelectorAll("[data-lights]").forEach((node) => {
    const kept = node.dataset.kept || null;
    node.querySelectorAll("[data-light]").forEach((part) => {
      part.classList.toggle("lit", part.dataset.light === (name ?? kept));
    });
    node.classList.toggle("has-lit", (name ?? kept) !== null);
  });
}

// A mouse that rests while the page changes under it has chosen nothing.
let moved = [];
document.addEventListener("mousemove", (event) => { moved = [event.clientX, event.clientY]; });

function rests(event) {
  return moved[0] === event.clientX && moved[1] === event.clientY;
}

function tooltip(root, holder) {
  let box = null;
  const hide = () => { if (box) { box.remove(); box = null; } };
  const show = (target) => {
    hide();
    box = document.createElement("div");
    box.className = "tip";
    box.setAttribute("role", "tooltip");
    target.dataset.tip.split(/`([^`\n]+)`/).forEach((words, at) => {
      const code = at % 2 ? box.appendChild(document.createElement("code")) : box;
      code.append(words);
    });
    unbroken(box);
    holder.appendChild(box);
    const spot = target.getBoundingClientRect();
    const size = box.getBoundingClientRect();
    const left = Math.min(Math.max(8, spot.left), window.innerWidth - size.width - 8);
    const below = spot.bottom + 6 + size.height < window.innerHeight;
    box.style.left = `${left}px`;
    box.style.top = `${below ? spot.bottom + 6 : spot.top - size.height - 6}px`;
  };
  root.addEventListener("mouseover", (event) => {
    const target = event.target.closest("[data-tip]");
    if (target && !rests(event)) show(target); else hide();
  });
  root.addEventListener("mousemove", (event) => {
    const target = box ? null : event.target.closest("[data-tip]");
    if (target && !rests(event)) show(target);
  });
  root.addEventListener("mouseleave", hide);
  root.addEventListener("focusin", (event) => {
    const target = event.target.closest("[data-tip]");
    if (target) show(target); else hide();
  });
  root.addEventListener("focusout", hide);
  return hide;
}

async function copy(button) {
  const text = button.dataset.copy === "link" ? window.location.href : button.dataset.copy;
  const label = button.querySelector("[data-label]") || button;
  const before = button.__label ?? (button.__label = label.textContent);
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = "Copied";
  } catch (refused) {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.appendChild(field);
    field.select();
    label.textContent = document.execCommand("copy") ? "Copied" : "Copy it from the address bar";
    field.remove();
  }
  setTimeout(() => (label.textContent = before), 1600);
}

// A door to another page is one entry of the browser's history: the address changes, and Streamlit
// is told as it is told of Back and Forward. A door on the same page only changes the query.
function move(state, href) {
  const to = new URL(href, window.location.href);
  const here = window.location;
  if (to.pathname === here.pathname || to.origin !== here.origin) { state.send("go", href); return; }
  window.history.pushState({}, "", to);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

// Streamlit keeps the theme by the path that the app was opened at: all paths get the same one.
function setTheme(button) {
  const root = new URL("./", window.location.href).pathname;
  const pages = (button.closest("[data-pages]") || button).dataset.pages || "";
  for (const page of pages.split(" ")) {
    for (const path of [root + page, `${root}${page}/`]) {
      window.localStorage.setItem(`stActiveTheme-${path}-v2`, JSON.stringify(button.dataset.theme));
    }
  }
  window.location.reload();
}

// What a cell says, as a spreadsheet takes it: a number as one, no text as a formula.
function cellText(cell) {
  const told = cell.innerText.trim() ? null : cell.querySelector("[aria-label], [data-tip]");
  const text = (told ? told.getAttribute("aria-label") || told.dataset.tip : cell.innerText)
    .replace(/\s+/g, " ").trim().replace(/^\u2212(?=[\d.])/, "-");
  const safe = /^[=+\-@]/.test(text) && !/^[+-][\d.,]+( ?%)?$/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

function saveTable(table) {
  const lines = Array.from(table.rows, (row) => Array.from(row.cells, cellText).join(","));
  const name = table.getAttribute("aria-label").replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  link.download = `${name || "table"}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Every table can be saved as it is seen. The buttons aren't Python's: they go before each change.
function offerFiles(root) {
  root.querySelectorAll("table[aria-label]").forEach((table) => {
    if (table.rows.length < 3) return;
    const caption = document.createElement("caption");
    caption.dataset.foreign = "";
    caption.className = "save";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "CSV";
    button.setAttribute("aria-label", `Save as CSV: ${table.getAttribute("aria-label")}`);
    button.dataset.save = "";
    caption.appendChild(button);
    table.insertBefore(caption, table.firstChild);
  });
}

/* Presenter mode: larger, without the menu; it lasts as long as the window. */
const PRESENT = "atomscope_present";

function present(on) {
  document.documentElement.toggleAttribute("data-presenting", on);
  sessionStorage.setItem(PRESENT, on ? "1" : "");
}

/* Keys that do what another one does. */
const ALIKE = { j: "ArrowRight", k: "ArrowLeft" };

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

// A table of hundreds of doors is one stop of the Tab key; arrow keys go from cell to cell.
function roam(event) {
  const step = STEPS[event.key], cell = event.target.closest("[data-roam] td");
  if (!step || !cell || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = cell.closest("tbody").rows, row = rows[cell.parentNode.rowIndex - rows[0].rowIndex + step[0]];
  let at = cell.cellIndex + step[1], door = null;
  for (; row?.cells[at] && !door; at += step[1] || 1) door = row.cells[at].querySelector("a");
  if (!door) return;
  event.preventDefault();
  event.stopPropagation();
  event.target.tabIndex = -1;
  door.tabIndex = 0;
  door.focus();
}

function start(state, parent) {
  if (sessionStorage.getItem(PRESENT)) present(true);
  const root = document.createElement("div");
  root.className = "atom";
  const shadow = parent.getRootNode();
  if (shadow.host) shadow.adoptedStyleSheets = [LOOK];
  const holder = document.createElement("div");
  parent.appendChild(root);
  parent.appendChild(holder);
  state.root = root;
  const hide = tooltip(root, holder);
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) { copy(button); return; }
    const theme = event.target.closest("[data-theme]");
    if (theme) { setTheme(theme); return; }
    if (event.target.closest("[data-present]")) {
      present(!document.documentElement.hasAttribute("data-presenting"));
      return;
    }
    const act = event.target.closest("[data-act]");
    if (act) { hide(); state.send("act", act.dataset.act); return; }
    const save = event.target.closest("[data-save]");
    if (save) { saveTable(save.closest("table")); return; }
    const door = event.target.closest("[data-go]");
    if (!door || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button) return;
    event.preventDefault();
    hide();
    if (door.dataset.lights !== undefined || door.dataset.light !== undefined) {
      root.querySelectorAll("[data-lights]").forEach((n) => (n.dataset.kept = door.dataset.light));
      light(root, door.dataset.light);
    }
    if (door.dataset.seen !== undefined) {
      document.cookie = "atomscope_welcome=seen; path=/; max-age=31536000; samesite=strict";
    }
    move(state, door.getAttribute("href"));
  });
  root.addEventListener("mouseover", (event) => {
    if (rests(event)) return;
    const row = event.target.closest("[data-light]");
    light(root, row ? row.dataset.light : null);
  });
  root.addEventListener("mouseleave", () => light(root, null));
  root.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-light]");
    light(root, row ? row.dataset.light : null);
  });
  root.addEventListener("change", (event) => {
    const field = event.target.closest("[data-say]");
    // A question is asked by Enter alone: who leaves the field hasn't asked.
    if (!field || (field.dataset.ask !== undefined && !state.entered)) return;
    state.send("act", `${field.dataset.say}:${field.value}`);
  });
  root.addEventListener("keydown", roam);
  root.addEventListener("keydown", (event) => {
    const field = event.target.closest("[data-say]");
    if (!field || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    if (event.key === "Escape") field.value = field.getAttribute("value") || "";
    state.entered = event.key === "Enter";
    field.blur();
    state.entered = false;
  });
  state.keys = (event) => {
    // What has the focus inside of a component is seen by the event's path alone.
    const active = event.composedPath()[0];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (active && /^(INPUT|TEXTAREA|SELECT)$/.test(active.nodeName)) return;
    if (active && active.isContentEditable) return;
    if (event.key === "/") {
      const search = document.querySelector(".st-key-find_words input") || root.querySelector("[data-ask]");
      if (search) { event.preventDefault(); search.focus(); search.select(); }
      return;
    }
    // The sign above is typed with Shift on many keyboards; no other key is.
    if (event.shiftKey) return;
    const target = root.querySelector(`[data-key="${CSS.escape(ALIKE[event.key] || event.key)}"]`);
    if (!target) return;
    event.preventDefault();
    if (target.nodeName === "INPUT") target.focus(); else target.click();
  };
  document.addEventListener("keydown", state.keys);
  state.hide = hide;
}

const states = new WeakMap();

// The page holds this script once (first_paint.py); each piece of markup only calls it.
window.atomscopeMarkup = function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let state = states.get(parentElement);
  if (!state) {
    state = {};
    states.set(parentElement, state);
    start(state, parentElement);
  }
  state.send = setTriggerValue;
  // A popover lies outside of the app's element, which says whether it is light or dark.
  const app = document.querySelector(".stApp");
  if (app) state.root.style.colorScheme = getComputedStyle(app).colorScheme;
  if (state.html !== data.html) {
    state.html = data.html;
    const next = document.createElement("template");
    next.innerHTML = data.html;
    unbroken(next.content);
    state.hide();
    state.root.querySelectorAll("[data-foreign]").forEach((node) => node.remove());
    morph(state.root, next.content);
    offerFiles(state.root);
    light(state.root, null);
    state.root.querySelectorAll("[data-reveal='1']").forEach((node) => {
      const box = node.closest("[data-scroll]");
      if (!box) return;
      const top = node.offsetTop - box.offsetTop;
      if (top < box.scrollTop || top + node.offsetHeight > box.scrollTop + box.clientHeight) {
        box.scrollTop = Math.max(0, top - box.clientHeight / 3);
      }
    });
  }
  // What follows waits for this at the first drawing (first_paint.js).
  const host = state.root.getRootNode().host || state.root;
  host.closest(".stBidiComponent")?.setAttribute("data-drawn", "");
  return () => {
    document.removeEventListener("keydown", state.keys);
    states.delete(parentElement);
    state.hide();
    state.root.remove();
  };
};
})();
