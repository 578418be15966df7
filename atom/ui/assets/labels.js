// A deck of things to label. A press shows the next one at once and sends what was said; what was
// sent stays in `pending` until the server says that it is written, so that nothing is lost when
// presses are quicker than the server, or when the page loads anew. All text in the markup was
// escaped in Python.

const states = new WeakMap();
const LOADING = `<div class="empty loading" role="status"><h2>Loading the next sample…</h2>
<p class="quiet">Keys do nothing until it is here: nothing is labelled that wasn't shown.</p>
<p class="strong" data-ignored></p></div>`;

function saved(name) {
  try { return JSON.parse(sessionStorage.getItem(name) || "[]"); } catch (broken) { return []; }
}

function save(state) {
  try { sessionStorage.setItem(state.name, JSON.stringify(state.pending)); } catch (full) { /* in memory only */ }
}

function put(node, html) {
  if (node.__html !== html) { node.__html = html; node.innerHTML = html; }
}

function current(state) {
  return state.deck.items.find((item) => item.id === state.at) || null;
}

function place(state) {
  return state.deck.items.findIndex((item) => item.id === state.at);
}

function draw(state) {
  const item = current(state);
  const waiting = !item && state.pending.length > 0;
  put(state.stage, item ? item.html : waiting ? LOADING : state.deck.end);
  wait(state, waiting);
  if (state.drawn !== state.at) {
    state.drawn = state.at;
    state.groups = [];
    state.tie = false;
    state.hits = null;
    state.root.dataset.item = state.at || "";
    state.stage.querySelectorAll(".said").forEach((box) => (box.scrollTop = 0));
  }
  places(state);
  for (const other of state.deck.items) {
    for (const address of other.pictures) {
      if (!state.fetched.has(address)) { state.fetched.add(address); new Image().src = address; }
    }
  }
}

// What comes next isn't here yet: keys would label what nobody has seen, so they are left out, and
// that is said. They count again once the next one is painted.
function wait(state, waiting) {
  if (waiting === state.waiting) return;
  if (waiting) {
    state.ignored = 0;
    state.waiting = true;
    state.root.dataset.waiting = "0";
    return;
  }
  requestAnimationFrame(() => requestAnimationFrame(() => {
    if (current(state) || !state.pending.length) { state.waiting = false; delete state.root.dataset.waiting; }
  }));
}

function ignore(state) {
  state.ignored += 1;
  state.root.dataset.waiting = String(state.ignored);
  const told = state.stage.querySelector("[data-ignored]");
  if (told) told.textContent = state.ignored === 1 ? "1 key was left out." : `${state.ignored} keys were left out.`;
}

function send(state, act) {
  state.last = Math.max(Date.now(), state.last + 1);
  state.pending.push({ n: state.last, ...act });
  save(state);
  state.emit("acts", { acts: state.pending });
}

// The next open item from a place on that nothing was said about: what is on its way counts as said.
function open(state, start) {
  const said = new Set(state.pending.filter((act) => act.do === "give" || act.do === "skip").map((act) => act.id));
  const next = state.deck.items.slice(start).find((item) => item.open && !said.has(item.id));
  return next ? next.id : "";
}

function onward(state) {
  state.at = open(state, place(state) + 1);
  draw(state);
}

function give(state, more) {
  const item = current(state);
  if (!item) return;
  const begun = performance.now();
  send(state, { do: "give", id: item.id, ...more });
  onward(state);
  requestAnimationFrame(() => { state.root.dataset.shown = (performance.now() - begun).toFixed(1); });
  state.asked = begun;
}

function step(state, by) {
  const items = state.deck.items;
  const next = items[place(state) + by];
  if (!next) return;
  state.at = next.id;
  draw(state);
  send(state, { do: "go", id: next.id });
}

// --- rankings ---

function places(state) {
  const item = current(state);
  if (!item || item.mode !== "ranking") return;
  let rank = 1;
  const shown = {};
  for (const group of state.groups) {
    for (const at of group) shown[at] = rank;
    rank += group.length;
  }
  state.stage.querySelectorAll("[data-answer]").forEach((node) => {
    const own = shown[Number(node.dataset.answer)];
    node.classList.toggle("placed", own !== undefined);
    node.querySelector(".rank").textContent = own === undefined ? "not placed" : `place ${own}`;
  });
  const told = state.stage.querySelector("[data-told]");
  if (!told || (!state.groups.length && !state.tie)) return;
  const left = item.answers - state.groups.flat().length;
  told.textContent = state.tie ? "Ties: the next answer shares the last place given." :
    left ? `Enter keeps this; the ${left} not placed share the last place.` : "Enter keeps this ranking.";
}

function rank(state, key, item) {
  if (/^[1-9]$/.test(key)) {
    const at = Number(key) - 1;
    if (at >= item.answers || state.groups.flat().includes(at)) return true;
    if (state.tie && state.groups.length) state.groups[state.groups.length - 1].push(at);
    else state.groups.push([at]);
    state.tie = false;
  } else if (key === "t") {
    if (!state.groups.length) state.groups = [[...Array(item.answers).keys()]];
    else state.tie = !state.tie;
  } else if (key === "Backspace") {
    const last = state.groups[state.groups.length - 1];
    if (last) { last.pop(); if (!last.length) state.groups.pop(); }
    state.tie = false;
  } else if (key === "Enter" && state.groups.length) {
    give(state, { groups: state.groups });
    return true;
  } else {
    return false;
  }
  places(state);
  return true;
}

// --- leaves ---

function search(state, box) {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  // A word that begins a name counts more than one inside of it, and the leaf's own name most.
  const worth = (leaf) => words.reduce((sum, word) => {
    const own = leaf.slice(leaf.lastIndexOf("›") + 1);
    return sum + (` ${own}`.includes(` ${word}`) ? 3 : ` ${leaf}`.includes(` ${word}`) ? 2 : own.includes(word) ? 1 : 0);
  }, 0);
  const found = state.deck.leaves.map((leaf, at) => [leaf.toLowerCase(), at])
    .filter(([leaf]) => words.every((word) => leaf.includes(word)))
    .map(([leaf, at]) => [worth(leaf), at])
    .sort((a, b) => b[0] - a[0] || a[1] - b[1])
    .slice(0, 8)
    .map(([, at]) => at);
  state.hits = { found, on: 0 };
  hits(state);
}

function hits(state) {
  const list = state.stage.querySelector("[data-hits]");
  if (!list || !state.hits) return;
  list.replaceChildren(...state.hits.found.map((at, number) => {
    const line = document.createElement("div");
    line.className = number === state.hits.on ? "hit on" : "hit";
    line.dataset.leaf = at;
    line.textContent = state.deck.leaves[at];
    return line;
  }));
  if (!state.hits.found.length) list.textContent = "No capability has these words.";
}

function typing(state, event) {
  const box = event.target;
  if (event.key === "Escape") box.blur();
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const many = state.hits ? state.hits.found.length : 0;
    if (many) state.hits.on = (state.hits.on + (event.key === "ArrowDown" ? 1 : many - 1)) % many;
    hits(state);
  } else if (event.key === "Enter" && state.hits && state.hits.found.length) {
    box.blur();
    give(state, { leaf: state.hits.found[state.hits.on] });
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

// --- writing ---

function written(state, box) {
  if (!box.value.trim()) { box.focus(); return; }
  box.blur();
  give(state, { text: box.value });
}

function writing(state, event) {
  if (event.key === "Escape") event.target.blur();
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) written(state, event.target);
  else { event.stopPropagation(); return; }
  event.preventDefault();
  event.stopPropagation();
}

// --- keys ---

function press(state, name) {
  const key = name.length === 1 ? name.toLowerCase() : name;
  const item = current(state);
  // Until the server says what was taken back, a press would hit the wrong thing.
  if (state.hold > performance.now()) return true;
  if (key === "u") { state.hold = performance.now() + 2000; send(state, { do: "undo", id: "" }); return true; }
  if (key === "?") {
    const help = state.foot.querySelector("details");
    if (help) help.open = !help.open;
    return true;
  }
  if (state.waiting) { if (key.length === 1 || key === "Enter") ignore(state); return true; }
  if (!item) {
    if (key === "Enter" && state.stage.querySelector("[data-press='again']")) { send(state, { do: "again", id: "" }); return true; }
    return false;
  }
  if (item.mode === "ranking" && rank(state, key, item)) return true;
  if (item.mode === "write" && (name === "write" || key === "Enter")) {
    const box = state.stage.querySelector("textarea");
    if (key === "Enter") box.focus();
    else written(state, box);
    return true;
  }
  if (key === "s") { send(state, { do: "skip", id: item.id }); onward(state); return true; }
  if (key === "j" || key === "ArrowRight" || key === "ArrowDown" || key === "Enter") { step(state, 1); return true; }
  if (key === "k" || key === "ArrowLeft" || key === "ArrowUp") { step(state, -1); return true; }
  if (item.mode === "leaf" && (key === "2" || key === "/")) {
    const box = state.stage.querySelector("input");
    box.focus();
    search(state, box);
    return true;
  }
  if (item.keys.includes(key)) { give(state, { key }); return true; }
  return false;
}

function start(state, parent) {
  state.root = document.createElement("div");
  state.root.className = "atom labels";
  state.top = document.createElement("div");
  state.stage = document.createElement("div");
  state.foot = document.createElement("div");
  state.root.append(state.top, state.stage, state.foot);
  parent.appendChild(state.root);
  state.root.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) event.preventDefault();
    const leaf = event.target.closest("[data-leaf]");
    if (leaf) { give(state, { leaf: Number(leaf.dataset.leaf) }); return; }
    const button = event.target.closest("[data-press]");
    if (!button) return;
    if (button.dataset.press === "again") send(state, { do: "again", id: "" });
    else press(state, button.dataset.press);
  });
  state.root.addEventListener("input", (event) => {
    if (event.target.nodeName === "INPUT") search(state, event.target);
  });
  state.root.addEventListener("keydown", (event) => {
    if (event.target.nodeName === "INPUT") typing(state, event);
    else if (event.target.nodeName === "TEXTAREA") writing(state, event);
  });
  state.keys = (event) => {
    const target = event.composedPath()[0];
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (target && (/^(INPUT|TEXTAREA|SELECT)$/.test(target.nodeName) || target.isContentEditable)) return;
    // Enter on a link or a button outside of the deck is that control's own.
    const outside = target && target.closest && target.closest("a, button, summary") && !event.composedPath().includes(state.root);
    if (event.key === "Enter" && outside) return;
    if (press(state, event.key)) event.preventDefault();
  };
  document.addEventListener("keydown", state.keys);
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let state = states.get(parentElement);
  if (!state || state.name !== `atom.labels.${data.desk}`) {
    if (state) { document.removeEventListener("keydown", state.keys); state.root.remove(); }
    state = { name: `atom.labels.${data.desk}`, fetched: new Set(), last: 0, hold: 0, groups: [], tie: false, at: data.at, waiting: false, ignored: 0 };
    // A label that is sent twice changes nothing; an undo would take back one too many.
    state.pending = saved(state.name).filter((act) => act.do === "give" || act.do === "skip");
    state.resend = state.pending.length > 0;
    states.set(parentElement, state);
    start(state, parentElement);
  }
  state.emit = setTriggerValue;
  state.deck = data;
  const before = state.pending.length;
  const undone = state.pending.some((act) => act.do === "undo" || act.do === "again");
  state.pending = state.pending.filter((act) => act.n > data.ack);
  if (before !== state.pending.length) {
    save(state);
    if (state.asked) { state.root.dataset.written = (performance.now() - state.asked).toFixed(0); }
  }
  const kept = state.deck.items.some((item) => item.id === state.at);
  if (!state.pending.length || undone) { state.at = data.at; state.hold = 0; }
  // The server is behind: what was pressed already is not asked again.
  else if (!kept) state.at = open(state, Math.max(state.deck.items.findIndex((item) => item.id === data.at), 0));
  put(state.top, data.html);
  put(state.foot, data.foot);
  draw(state);
  if (state.resend) { state.resend = false; state.emit("acts", { acts: state.pending }); }
  const host = state.root.getRootNode().host || state.root;
  host.closest(".stBidiComponent")?.setAttribute("data-drawn", "");
  return () => {
    document.removeEventListener("keydown", state.keys);
    states.delete(parentElement);
    state.root.remove();
  };
}
