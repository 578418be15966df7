// Runs in the page: lists what can't be read, by kind.
([least, contrast]) => {
  const found = {small: [], faint: [], cut: [], over: [], wide: [], raw: [], apart: []};
  const name = (node) => node.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
  const up = (node) => node.parentElement || (node.getRootNode() && node.getRootNode().host) || null;
  const rgb = (text) => {
    const parts = (text.match(/[\d.]+/g) || []).map(Number);
    const unit = text.startsWith("color(") ? 255 : 1;
    return parts.length < 3 ? null
      : {c: parts.slice(0, 3).map((x) => x * unit), a: parts.length > 3 ? parts[3] : 1};
  };
  const light = ({c}) => c.map((x) => x / 255)
    .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => {
    const [hi, lo] = [light(a), light(b)].sort((x, y) => y - x);
    return (hi + 0.05) / (lo + 0.05);
  };
  const ground = (node) => {
    for (let at = node; at; at = up(at)) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return null;
      const colour = rgb(style.backgroundColor);
      if (colour && colour.a > 0.95) return colour;
      if (colour && colour.a > 0.02) return null;
    }
    return {c: [255, 255, 255], a: 1};
  };
  const seen = (node) => node.checkVisibility({opacityProperty: true, visibilityProperty: true,
    contentVisibilityAuto: true}) && shown(node);
  const shown = (node) => {
    for (let at = node; at; at = up(at)) {
      const style = getComputedStyle(at);
      if (style.visibility === "hidden" || style.display === "none" || Number(style.opacity) < 0.1)
        return false;
    }
    return true;
  };
  const told = (node) => {
    for (let at = node; at; at = up(at))
      if (at.getAttribute && (at.dataset.tip || at.getAttribute("title") || at.dataset.scroll !== undefined))
        return true;
    return false;
  };
  // Half a pixel is enough for the three dots.
  const slack = (style) => (style.textOverflow === "ellipsis" ? 0.4 : 1.5);
  const ruler = document.createElement("canvas").getContext("2d");
  const hinted = (field) => {
    const style = getComputedStyle(field);
    ruler.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return ruler.measureText(field.placeholder).width > room + 1;
  };
  // A text may be cut by its own box or by one around it: a button cuts the paragraph inside it.
  const clipped = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const text = range.getBoundingClientRect();
    for (let at = node, depth = 0; at && depth < 6; at = up(at), depth++) {
      const style = getComputedStyle(at), box = at.getBoundingClientRect();
      if (["auto", "scroll"].includes(style.overflowX)) return false;
      if (!["hidden", "clip"].includes(style.overflowX) || !at.clientWidth) continue;
      if (at === node ? at.scrollWidth > at.clientWidth + 1
        : text.width > 3 && (text.right > box.right + slack(style) || text.left < box.left - 1.5)) return true;
    }
    return false;
  };
  // A drawing cuts what reaches beyond it.
  const beyond = (node) => {
    const drawing = node.ownerSVGElement, text = node.getBoundingClientRect();
    if (!drawing || getComputedStyle(drawing).overflowX === "visible") return false;
    const box = drawing.getBoundingClientRect();
    return text.right > box.right + 1.5 || text.left < box.left - 1.5
      || text.bottom > box.bottom + 3 || text.top < box.top - 3;
  };
  const texts = [], roots = [document];
  for (let at = 0; at < roots.length; at++) {
    for (const node of roots[at].querySelectorAll("*")) {
      if (node.shadowRoot) roots.push(node.shadowRoot);
      const own = [...node.childNodes].some((x) => x.nodeType === 3 && x.nodeValue.trim());
      if (node.nodeName === "INPUT" && node.placeholder && !node.value && seen(node) && hinted(node))
        found.cut.push(node.placeholder);
      if (own && !["SCRIPT", "STYLE", "OPTION", "TEXTAREA"].includes(node.nodeName)) texts.push(node);
    }
  }
  // Marks that a reader shouldn't see, except in what models say and in commands.
  const RAW = /`[^`]+`|(^|[\s(])-\d|\b[Nn]a[Nn]\b/;
  // A number and its unit, or an n and its number, belong on one line.
  const UNIT = /\d\s+(?:%|s|ms|min|h|px|[KMG]B|°[CF])(?![\p{L}\p{N}])|\bn\s+\d/gu;
  const apart = (text) => [...text.nodeValue.matchAll(UNIT)].filter(({0: pair, index}) => {
    const ends = [index, index + pair.length - 1].map((at) => {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect();
    });
    return ends[1].top >= ends[0].bottom - 1;
  }).map(({0: pair}) => pair.replace(/\s+/g, " "));
  const boxes = [];
  for (const node of texts) {
    const box = node.getBoundingClientRect();
    if (box.width < 3 || box.height < 3 || !seen(node)) continue;
    const style = getComputedStyle(node), svg = node.namespaceURI.includes("svg");
    const own = [...node.childNodes].filter((x) => x.nodeType === 3);
    if (!node.closest(".said, code, pre")) {
      if (own.some((x) => RAW.test(x.nodeValue))) found.raw.push(name(node));
      for (const pair of own.flatMap(apart)) found.apart.push(`${pair}: ${name(node)}`);
    }
    let scale = 1;
    // A label may be turned: its size is the length of the matrix's first column.
    const turn = svg && node.getScreenCTM ? node.getScreenCTM() : null;
    if (turn) scale = Math.hypot(turn.a, turn.b);
    if (parseFloat(style.fontSize) * scale < least - 0.05)
      found.small.push(`${(parseFloat(style.fontSize) * scale).toFixed(1)} px: ${name(node)}`);
    const ink = rgb(style.color), behind = svg ? null : ground(node);
    const off = node.closest("[aria-disabled=true], :disabled, [disabled]");
    if (ink && behind && !off && ink.a > 0.95 && ratio(ink, behind) < contrast - 0.01)
      found.faint.push(`${ratio(ink, behind).toFixed(2)}: ${name(node)}`);
    if ((svg ? beyond(node) : clipped(node)) && !told(node)) found.cut.push(name(node));
    if (!(turn && Math.abs(turn.b) > 0.01) && box.top < innerHeight * 3 && style.position !== "absolute")
      boxes.push([node, box]);
  }
  // A text over two lines has a box that holds what stands beside either: its lines are looked at,
  // and of these what isn't scrolled out of a list or cut off by a box around it.
  const lines = (node) => {
    const own = node.getBoundingClientRect();
    const frame = {left: own.left, right: own.right, top: own.top, bottom: own.bottom};
    for (let at = up(node); at && at.dataset.testid !== "stMain"; at = up(at)) {
      const style = getComputedStyle(at), box = at.getBoundingClientRect();
      if (style.overflowX !== "visible" && at !== document.body && at !== document.documentElement)
        Object.assign(frame, {
          left: Math.max(frame.left, box.left), right: Math.min(frame.right, box.right),
          top: Math.max(frame.top, box.top), bottom: Math.min(frame.bottom, box.bottom)});
    }
    return [...node.childNodes].filter((x) => x.nodeType === 3).flatMap((text) => {
      const range = document.createRange();
      range.selectNodeContents(text);
      return [...range.getClientRects()].map((at) => ({
        left: Math.max(at.left, frame.left), right: Math.min(at.right, frame.right),
        top: Math.max(at.top, frame.top), bottom: Math.min(at.bottom, frame.bottom)}));
    });
  };
  const cross = (some, others) => some.some((x) => others.some((y) =>
    Math.min(x.right, y.right) - Math.max(x.left, y.left) > 3 &&
    Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 4));
  const holds = (a, b) => { for (let at = b; at; at = up(at)) if (at === a) return true; return false; };
  for (let i = 0; i < boxes.length && i < 700; i++) for (let j = i + 1; j < boxes.length && j < 700; j++) {
    const [a, x] = boxes[i], [b, y] = boxes[j];
    const wide = Math.min(x.right, y.right) - Math.max(x.left, y.left);
    const high = Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top);
    if (wide > 3 && high > 4 && !holds(a, b) && !holds(b, a) && cross(lines(a), lines(b)))
      found.over.push(`${name(a)} | ${name(b)}`);
  }
  const main = document.querySelector('[data-testid="stMain"]');
  if (main && main.scrollWidth > main.clientWidth + 2)
    found.wide.push(`${main.scrollWidth - main.clientWidth} px beyond the window`);
  return found;
}
