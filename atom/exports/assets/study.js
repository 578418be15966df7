// Draws a study from the JSON beside it. Every text becomes a text node: nothing is parsed as markup.
"use strict";
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const manifest = study.manifest;
  const page = document.getElementById("page");
  const PAGE = 20;
  const FAILED = 2;
  const chosen = { source: "", tag: "", model: "", node: "", show: "failed" };
  const open = new Set();
  let shown = PAGE;

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(3)) {
      if (child === null || child === undefined) continue;
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return node;
  }

  const whole = (n) => n.toLocaleString("en-US");
  const many = (n, one) => `${whole(n)} ${one}${n === 1 ? "" : "s"}`;
  const percents = study.measure !== "process";
  // Decimals of a column as a whole: its smallest n decides. The counts of rows without a value
  // don't come in.
  const digitsOf = (counts) => (counts.some((n) => n < 200) ? 0 : 1);
  const digitsFor = (estimates) => digitsOf(estimates.filter(Boolean).map((one) => one[3]));
  function number(value, digits) {
    return percents ? `${value.toFixed(digits)} %` : value.toFixed(1);
  }
  function interval(estimate, digits) {
    if (!estimate) return "–";
    const [value, lo, hi] = estimate;
    if (lo === null) return number(value, digits);
    const places = percents ? digits : 1;
    return `${value.toFixed(places)} (${lo.toFixed(places)}-${hi.toFixed(places)})`;
  }
  function named(model) {
    return make("span", { class: "who" }, dot(model),
      make("span", null, study.models[model].name));
  }
  function dot(model) {
    const mark = make("span", { class: "dot", "aria-hidden": true });
    mark.style.background = study.models[model].colour;
    return mark;
  }

  // --- what is chosen -----------------------------------------------------------------------------

  const nodeKey = (node) => JSON.stringify(node.label || node.path);
  const nodes = new Map(study.nodes.map((node) => [nodeKey(node), node]));
  function inNode(leaf, node) {
    return node.path.every((name, at) => leaf[at] === name);
  }
  function answersOf(sample) {
    const model = chosen.model === "" ? null : Number(chosen.model);
    return sample.answers.filter((answer) => model === null || answer.model === model);
  }
  // Which criteria of a sample the chosen node takes in.
  function criteriaOf(sample) {
    const node = nodes.get(chosen.node);
    const all = sample.criteria.map((_, at) => at);
    if (!node || node.label) return all;
    return all.filter((at) => inNode(sample.criteria[at].leaf, node));
  }
  function passesFilters(sample) {
    if (chosen.source && sample.source !== chosen.source) return false;
    if (chosen.tag) {
      const [facet, value] = JSON.parse(chosen.tag);
      if (!sample.tags.some((pair) => pair[0] === facet && pair[1] === value)) return false;
    }
    const node = nodes.get(chosen.node);
    if (node && node.label && node.label[0] === "source") {
      if (sample.source !== node.label[1]) return false;
    } else if (node && node.label) {
      const has = sample.tags.some((pair) => pair[0] === node.label[0] && pair[1] === node.label[1]);
      if (!has) return false;
    } else if (node && !criteriaOf(sample).length) return false;
    return answersOf(sample).length > 0 || chosen.model === "";
  }
  // A mark on another scale than 1 to 5 is a text, and says itself whether it is a failed one.
  function isFailed(mark) {
    const [score, , bad] = mark || [null];
    return typeof score === "number" ? score <= FAILED : bad === 1;
  }
  function failedSteps(sample) {
    const steps = criteriaOf(sample);
    let failed = 0;
    for (const answer of answersOf(sample)) {
      if (study.measure === "process") {
        for (const at of steps) {
          if (isFailed(answer.marks[at])) failed += 1;
        }
      } else if (study.measure === "outcome") failed += answer.right !== null && answer.right < 0.5;
      else failed += answer.won !== null && answer.won < 0.5;
    }
    return failed;
  }
  const FAILURES = {
    process: ["failed step", "failed marks: 1 or 2 of 5, or as the scale says"],
    outcome: ["wrong answer", "final answers that are wrong"],
    preference: ["lost answer", "answers that won less than half of their votes"],
  }[study.measure];
  function selection() {
    const here = study.samples.filter(passesFilters);
    const listed = here
      .filter((sample) => !sample.quarantined)
      .map((sample) => [sample, failedSteps(sample)])
      .filter((pair) => chosen.show === "all" || pair[1] > 0);
    listed.sort((one, two) => two[1] - one[1]);
    return { here, listed, failed: listed.reduce((sum, pair) => sum + pair[1], 0) };
  }

  // --- parts --------------------------------------------------------------------------------------

  function head() {
    const judge = study.judge ? `, judged by ${study.judge}` : "";
    return [
      make("h1", null, manifest.study,
        manifest.synthetic ? make("span", { class: "badge" }, "SYNTHETIC") : null),
      make("p", { class: "quiet" },
        `A read-only copy of a study: ${many(study.total, "sample")}, ` +
        `${many(study.models.length, "model")}${judge}. Numbers are the ${study.unit}` +
        `${study.measure === "process" ? ", judge-scale" : ""}, with 95 % intervals. ` +
        `Made ${manifest.created.slice(0, 10)} by Atomscope.`),
      manifest.notes.map((note) => make("p", { class: "note" }, note, ".")),
      study.statements.length
        ? make("ul", { "aria-label": "What stands out" },
          study.statements.map((text) => make("li", null, text))) : null,
      make("details", { class: "about small" },
        make("summary", null, "What of the study is not in this file"),
        make("ul", null, manifest.drops.map((text) => make("li", null, text)))),
    ];
  }

  function menu(name, title, options) {
    const select = make("select", {
      id: `f-${name}`,
      onchange: (event) => choose({ [name]: event.target.value }),
    }, options.map(([value, text]) => make("option", { value }, text)));
    return make("label", { for: `f-${name}` }, title, select);
  }
  const unique = (values) => [...new Set(values)];
  function filterBar() {
    const sources = unique(study.samples.map((sample) => sample.source)).sort();
    const tags = unique(study.samples.flatMap((sample) => sample.tags.map((pair) =>
      JSON.stringify(pair)))).sort();
    const indent = (node) => "\u00a0\u00a0".repeat(Math.max(node.depth - 1, 0)) + node.name;
    return make("div", { class: "bar", role: "search", "aria-label": "Filters" },
      menu("source", "Source", [["", "all"], ...sources.map((one) => [one, one])]),
      tags.length ? menu("tag", "Tag", [["", "all"], ...tags.map((one) =>
        [one, JSON.parse(one).join(": ")])]) : null,
      menu("model", "Model", [["", "all"], ...study.models.map((one, at) => [at, one.name])]),
      menu("node", study.nodes.some((node) => node.path.length) ? "Capability" : "Label",
        [["", "all"], ...study.nodes.map((node) => [nodeKey(node), indent(node)])]),
      menu("show", "Show", [["failed", "failures"], ["all", "all samples"]]),
      make("button", { id: "clear", onclick: () =>
        choose({ source: "", tag: "", model: "", node: "" }) }, "Clear"),
      make("span", { class: "count", id: "count", role: "status", "aria-live": "polite" }));
  }

  function ranking(here) {
    const narrowed = chosen.source || chosen.tag;
    const extra = Boolean(narrowed && study.whole);
    const { heads, rows: ranked } = study.ranking;
    const panelled = heads.some((head) => head.kind === "differ");
    const value = { process: (a) => a.score, outcome: (a) => a.right === null ? null : 100 * a.right,
      preference: (a) => a.won === null ? null : 100 * a.won }[study.measure];
    const knownOf = (row) => here.filter((sample) => !sample.quarantined)
      .flatMap((sample) => sample.answers.filter((a) => a.model === row.model).map(value))
      .filter((one) => one !== null);
    const values = new Map(ranked.map((row) => [row.model, knownOf(row)]));
    const fine = digitsOf([...values.values()].map((known) => known.length).filter(Boolean));
    const barOf = (row) => {
      const bar = make("div", { class: "span", "aria-hidden": true });
      bar.style.color = study.models[row.model].colour;
      if (row.score && row.score[1] !== null) {
        const line = make("i");
        line.style.left = `${row.score[1]}%`;
        line.style.width = `${Math.max(row.score[2] - row.score[1], 0.5)}%`;
        const mark = make("b");
        mark.style.left = `${row.score[0]}%`;
        bar.append(line, mark);
      }
      return bar;
    };
    const mean = (row) => {
      const known = values.get(row.model);
      if (!known.length) return "–";
      const sum = known.reduce((a, b) => a + b, 0);
      return `${number(sum / known.length, fine)} (n ${whole(known.length)})`;
    };
    const cell = (head, said, row) => {
      if (head.kind === "model") return make("td", null, named(row.model));
      if (head.kind === "bar") return make("td", { class: "broad" }, barOf(row));
      if (head.kind === "lines") {
        return make("td", { class: "findings" }, said.map((text) => make("div", null, text)));
      }
      return make("td", { class: head.number ? "num" : null }, said);
    };
    const rows = ranked.map((row) => make("tr", null, heads.map((head, at) => [
      cell(head, row.cells[at], row),
      extra && head.kind === "n" ? make("td", { class: "num" }, mean(row)) : null,
    ])));
    return [
      make("h2", null, "Ranking"),
      make("p", { class: "quiet small" }, "Counts the whole study",
        extra ? "; the mean in the chosen source or tag stands beside it, without an interval." : "."),
      make("div", { class: "scroll" }, make("table", null,
        make("thead", null, make("tr", null,
          heads.map((head) => [
            make("th", { class: head.number ? "num" : head.kind === "bar" ? "broad" : null },
              head.title),
            extra && head.kind === "n"
              ? make("th", { class: "num" }, "In this source or tag") : null,
          ]))),
        make("tbody", null, rows))),
      panelled ? make("p", { class: "quiet small" },
        "Judges differ on a checkpoint where two are a step of the scale of five apart; ± is the " +
        "mean standard deviation over judges, in points of 0 to 100, as they mark.") : null,
      study.panel.map((text) => make("p", { class: "quiet small" }, text)),
    ];
  }

  function tree() {
    if (!study.nodes.length) return [];
    const known = study.nodes.flatMap((node) => node.cells).filter(Boolean).map((cell) => cell[0]);
    const low = Math.min(...known), high = Math.max(...known);
    const fine = study.models.map((_, at) => digitsFor(study.nodes.map((node) => node.cells[at])));
    const depth = (value) => (high > low ? 50 * (value - low) / (high - low) : 20);
    const parent = (node) => JSON.stringify(node.path.slice(0, -1));
    const parents = new Set(study.nodes.filter((n) => n.path.length > 1).map(parent));
    const visible = (node) => node.path.slice(1).every((_, at) =>
      open.has(JSON.stringify(node.path.slice(0, at + 1))));
    const rows = study.nodes.filter((node) => node.label || visible(node)).map((node) => {
      const key = nodeKey(node);
      const folds = parents.has(key);
      const pad = make("span");
      pad.style.paddingLeft = `${16 * Math.max(node.depth - 1, 0)}px`;
      return make("tr", null,
        make("td", { class: "node" }, pad,
          make("button", { class: "fold", disabled: !folds,
            "aria-expanded": folds ? String(open.has(key)) : null,
            "aria-label": folds ? `Open or close ${node.name}` : null,
            onclick: () => { open.has(key) ? open.delete(key) : open.add(key); draw(); } },
          folds ? (open.has(key) ? "▾" : "▸") : ""),
          make("button", { title: (node.label || node.path).join(" › "),
            "aria-pressed": String(chosen.node === key),
            onclick: () => choose({ node: chosen.node === key ? "" : key }) },
          node.label ? node.label.join(": ") : node.name)),
        make("td", { class: "num quiet" }, whole(node.samples)),
        node.cells.map((cell, model) => {
          const here = chosen.node === key && chosen.model === String(model);
          const button = make("button", {
            class: here ? "here" : null, disabled: !cell,
            title: cell ? `${study.models[model].name}: ${interval(cell, fine[model])}, n ${whole(cell[3])}` : null,
            onclick: () => { choose({ node: key, model: String(model) });
              document.getElementById("failures").scrollIntoView(); },
          }, cell ? cell[0].toFixed(percents ? fine[model] : 1) : "–");
          if (cell) button.style.setProperty("--deep", depth(cell[0]).toFixed(1));
          return make("td", { class: "cell" }, button);
        }));
    });
    const paths = study.nodes.some((node) => node.path.length);
    return [
      make("h2", null, paths ? "Tree and heatmap" : "Heatmap"),
      make("p", { class: "quiet small" }, `Each model's ${study.unit} on every `,
        paths ? "capability" : "label", "; deeper colour is a higher value. A cell opens its failures."),
      parents.size ? make("p", null, make("button", { id: "unfold", onclick: () => {
        if (open.size) open.clear(); else parents.forEach((key) => open.add(key));
        draw();
      } }, open.size ? "Close all" : "Open all")) : null,
      make("div", { class: "scroll" }, make("table", { id: "heat" },
        make("thead", null, make("tr", null, make("th", null, paths ? "Capability" : "Label"),
          make("th", { class: "num" }, "Samples"),
          study.models.map((one, at) => make("th", { class: "turn" }, dot(at), one.name)))),
        make("tbody", null, rows))),
    ];
  }

  function answerPart(sample, answer, steps) {
    const right = answer.right === null ? "" : answer.right >= 0.5 ? "right" : "wrong";
    const chips = steps.map((at) => {
      const [score] = answer.marks[at] || [null];
      return make("span", { class: isFailed(answer.marks[at]) ? "chip low" : "chip",
        title: sample.criteria[at].question }, score === null ? "…" : score);
    });
    const details = [];
    steps.forEach((at) => {
      const [score, reason] = answer.marks[at] || [null];
      const criterion = sample.criteria[at];
      details.push(make("li", { value: at + 1 },
        make("div", { class: "text" }, criterion.question),
        criterion.truth ? make("div", { class: "quiet" }, `True is: ${criterion.truth}`) : null,
        make("div", null, `Score ${score === null ? "pending" : score}`,
          criterion.leaf.length ? make("span", { class: "quiet" }, ` · ${criterion.leaf.join(" › ")}`)
            : null),
        reason ? make("div", { class: "text" }, reason) : null));
    });
    const words = answer.text || `(no answer: ${answer.state})`;
    return make("details", { class: "answer" },
      make("summary", null, dot(answer.model), study.models[answer.model].name,
        right ? make("span", { class: "quiet" }, ` · ${right}`) : null,
        answer.won === null ? null
          : make("span", { class: "quiet" }, ` · won ${Math.round(100 * answer.won)} % of its votes`),
        make("span", { class: "chips" }, chips)),
      make("div", { class: "text" }, words),
      answer.cut ? make("p", { class: "quiet small" },
        `${whole(answer.cut)} more characters are not in this file`) : null,
      details.length ? make("ol", { class: "criteria" }, details) : null);
  }

  function casePart([sample, failed]) {
    const steps = criteriaOf(sample);
    const picture = sample.picture
      ? make("img", { src: sample.picture, alt: sample.picture_name || "the sample's picture" })
      : make("div", { class: "gone" },
        sample.left_out ? `picture left out: ${sample.picture_name}`
          : sample.picture_name ? `picture missing: ${sample.picture_name}` : "no picture");
    return make("article", { class: "case", "data-sample": sample.id },
      make("div", null, picture,
        sample.more_pictures ? make("p", { class: "quiet small" },
          `and ${many(sample.more_pictures, "more picture")}`) : null),
      make("div", null,
        make("div", { class: "text" }, sample.question),
        sample.choices.length ? make("div", { class: "quiet small text" },
          sample.choices.map((text, at) => `(${String.fromCharCode(65 + at)}) ${text}`).join("  ")) : null,
        make("p", { class: "quiet small" }, `${sample.source} · ${sample.name}`,
          sample.reference === null ? "" : ` · right answer: ${sample.reference}`,
          ` · ${many(failed, FAILURES[0])}`,
          sample.tags.map((pair) => ` · ${pair.join(": ")}`)),
        answersOf(sample).map((answer) => answerPart(sample, answer, steps))));
  }

  function failuresPart(listed) {
    return [
      make("h2", { id: "failures" }, chosen.show === "all" ? "Samples" : "Failures"),
      make("p", { class: "quiet small" }, `Failures are ${FAILURES[1]}, the most first. `,
        study.quarantined
          ? `${many(study.quarantined, "sample")} where judge and reference disagree left out.` : ""),
      make("div", { class: "cases" }, listed.slice(0, shown).map(casePart)),
      listed.length ? null : make("p", null, "Nothing here: clear a filter, or show all samples."),
      listed.length > shown ? make("p", null, make("button", { id: "more", onclick: () => {
        shown += PAGE; draw();
      } }, `Show ${whole(Math.min(PAGE, listed.length - shown))} more of ${whole(listed.length)}`)) : null,
    ];
  }

  const top = make("header", null, head());
  const bar = filterBar();
  const body = make("div");
  function choose(change) {
    Object.assign(chosen, change);
    shown = PAGE;
    draw();
  }
  function draw() {
    for (const name of Object.keys(chosen)) {
      const select = document.getElementById(`f-${name}`);
      if (select) select.value = chosen[name];
    }
    const { here, listed, failed } = selection();
    document.getElementById("count").textContent =
      `${many(listed.length, "sample")} of ${whole(study.samples.length)} · ${many(failed, FAILURES[0])}`;
    body.replaceChildren(
      make("section", null, ranking(here)),
      make("section", null, tree()),
      make("section", null, failuresPart(listed)));
  }
  page.replaceChildren(top, bar, body);
  draw();
})();
