// The page about runs: its sections, from the records that report/page.h makes of a run's files.
"use strict";
const page = (() => {
const {number} = plots;
const main = d3.select("main");
const percent = x => Number.isFinite(x) ? `${(100 * x).toFixed(1)} %` : "–";
const list = x => Array.isArray(x) ? x : [];
const sentence = text => { const t = String(text).trim(); return t.charAt(0).toUpperCase() + t.slice(1) + (/[.!?]$/.test(t) ? "" : "."); };
const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

// ---------------------------------------------------------------- runs
// Adds lines of metrics.jsonl. A run that was resumed writes some of its steps again: the later ones count.
function addLines(run, text) {
  for (const words of text.split("\n")) {
    let line = null;
    try { line = JSON.parse(words); } catch (error) { continue; }
    if (!line || !Number.isFinite(line.step)) continue;
    while (run.lines.length && run.lines[run.lines.length - 1].step >= line.step) run.lines.pop();
    run.lines.push(line);
  }
}

const setting = (run, name) => (list(run.settings).find(s => s.name === name) || {}).value;
const lastLine = run => run.lines[run.lines.length - 1] || {};
const lastWith = (run, name) => d3.scan(run.lines, (a, b) => ((name in b) - (name in a)) || b.step - a.step);

function verdictOf(run) {
  const judged = run.lines[lastWith(run, "verdict")];
  const early = judged && String(judged.verdict).startsWith("collapsed") && !judged.advice;  // looks so at first and is not
  const words = (run.diagnosis || {}).verdict || (run.summary || {}).verdict || (early ? "just begun" : (judged || {}).verdict) || "unknown";
  return {words: String(words), kind: ["healthy", "warning", "collapsed"].find(k => String(words).startsWith(k)) || "unknown"};
}

// ---------------------------------------------------------------- images
// The sprite's address stands once in a style rule, however many tiles show a part of it.
const sprites = document.head.appendChild(document.createElement("style")).sheet;
let spriteCount = 0;
function addSprite(sprite) {
  if (!sprite || !(sprite.tile > 0) || !(sprite.columns > 0) || typeof sprite.data !== "string") return null;
  const name = `sprite-${spriteCount++}`;
  sprites.insertRule(`.${name} { background-image: url("${sprite.data.replace(/["\\\n]/g, "")}") }`);
  return {name, columns: Math.floor(sprite.columns)};
}
function tile(parent, run, index, size) {
  if (!run.sprite || !Number.isInteger(index) || index < 0) return;
  const column = index % run.sprite.columns, row = Math.floor(index / run.sprite.columns);
  parent.append("span").attr("class", `tile ${run.sprite.name}`)
    .style("width", `${size}px`).style("height", `${size}px`)
    .style("background-size", `${run.sprite.columns * size}px auto`)
    .style("background-position", `${-column * size}px ${-row * size}px`);
}

// ---------------------------------------------------------------- small pieces
function section(id, title, lead) {
  const node = main.append("section").attr("id", id);
  node.append("h2").text(title);
  if (lead) node.append("p").attr("class", "lead").text(lead);
  d3.select("nav").append("a").attr("href", `#${id}`).text(title);
  return node;
}
function missing(parent, what, run, command) {
  const p = parent.append("p").attr("class", "missing").text(`${what} of ${run.path}: not there yet. `);
  p.append("code").text(`cplearn ${command} ${run.word}`);
  p.append("span").text(" makes it.");
}
function runName(parent, run) {
  const h = parent.append("h3");
  h.append("span").attr("class", "dot").style("background", run.colour);
  h.append("span").text(run.path);
  return h;
}
function pill(parent, verdict) {
  parent.append("span").attr("class", `pill ${verdict.kind}`).text(verdict.words);
}
// rows: [{cells: [text or number], className}]
function table(parent, header, rows, className) {
  const t = parent.append("div").attr("class", "scroll").append("table").attr("class", className || null);
  const numeric = header.map((h, i) => rows.some(r => typeof r.cells[i] === "number"));
  t.append("thead").append("tr").selectAll("th").data(header).enter().append("th")
    .attr("class", (h, i) => numeric[i] ? "number" : null).text(h => h);
  const body = t.append("tbody");
  for (const row of rows) {
    const tr = body.append("tr").attr("class", row.className || null);
    row.cells.forEach((cell, i) => tr.append("td")
      .attr("class", [numeric[i] ? "number" : "", (row.marks || {})[i] || ""].join(" ").trim() || null)
      .text(typeof cell === "number" ? number(cell) : cell ?? ""));
  }
}

// One plot of everything for one run; for several, one plot for each thing, with a line for each run.
// parts: [{run, what, points}]
function beside(parent, runs, spec, parts) {
  const used = parts.filter(p => p.points.length);
  const groups = runs.length > 1 ? Array.from(new Set(used.map(p => p.what)), what => used.filter(p => p.what === what)) : [used];
  return groups.filter(g => g.length).map(group => {
    const alone = runs.length > 1;
    const single = spec.title.toLowerCase() === group[0].what.toLowerCase();
    return plots.lines(parent, {
      ...spec,
      title: alone && !single ? `${spec.title}: ${group[0].what}` : spec.title,
      name: alone && !single ? `${spec.name}-${group[0].what}`.replace(/[^\w-]+/g, "-") : spec.name,
      legend: alone,
      series: group.map((p, i) => ({name: alone ? p.run.path : p.what, colour: alone ? p.run.colour : plots.colour(i), points: p.points})),
    });
  });
}

// ---------------------------------------------------------------- sections
function head(node, runs) {
  node.append("h1").text(runs.length === 1 ? runs[0].path : `${runs.length} runs side by side`);
  if (runs.length > 1) return;
  const run = runs[0], s = run.summary || {}, line = lastLine(run), e = run.eval || {};
  const p = node.append("p").attr("class", "lead");
  pill(p, verdictOf(run));
  p.append("span").text(`  ${setting(run, "method") || ""} with ${setting(run, "backbone") || "a network"} on ${setting(run, "data") || "images"}`);
  const facts = node.append("div").attr("class", "facts");
  const fact = (value, words) => {
    if (value === "–") return;
    const node = facts.append("div").attr("class", "fact");
    node.append("b").text(value);
    node.append("span").text(words);
  };
  const latest = name => { const at = run.lines[lastWith(run, name)] || {}; return name in s ? s[name] : at[name]; };
  const short = x => Number.isFinite(x) ? number(+x.toPrecision(3)) : "–";
  fact(short(s.epochs ?? line.epoch), `of ${setting(run, "epochs") || "?"} epochs`);
  fact(short(latest("loss")), "loss");
  fact(percent(e.linear_top1), "linear probe, top 1");
  if (e.linear_top1 === undefined) fact(percent(latest("test_accuracy") ?? latest("probe_accuracy")), "online probe");
  fact(short(e.ami), "AMI of the codes");
  fact(short(latest("codes_used")), `of ${setting(run, "codes") || "?"} codes in use`);
  fact(short(latest("effective_rank")), "effective rank");
  fact(short(latest("images_per_second")), "images per second");
}

const collapses = [["representation", "Representation"], ["dimensional", "Dimensions"], ["cluster", "Clusters"], ["intracluster", "Within clusters"]];
function health(runs) {
  drawHealth(section("verdict", "Verdict", "Four ways in which learning without labels can fail, each with its measure and its threshold."), runs);
}
function drawHealth(node, runs) {
  node.select(".grid").remove();
  const grid = node.append("div").attr("class", runs.length > 1 ? "grid side" : "grid one");
  for (const run of runs) {
    const card = grid.append("div").attr("class", "card");
    const verdict = verdictOf(run), d = run.diagnosis;
    if (runs.length > 1) {
      const name = runName(card, run);
      name.append("span").text(" ");
      pill(name, verdict);
    }
    for (const problem of list(run.problems)) card.append("p").attr("class", "problem").text(problem);
    if (d && d.summary) card.append("p").text(sentence(d.summary));
    const inner = card.append("div").attr("class", runs.length > 1 ? null : "grid two");
    for (const [key, title] of collapses) {
      const found = d && d[key];
      if (!found) continue;
      const part = inner.append("div").attr("class", "finding");
      const header = part.append("header");
      header.append("h3").text(title);
      pill(header, {words: String(found.verdict), kind: String(found.verdict)});
      part.append("div").attr("class", "value").text(`${number(found.value)}, collapsed under ${number(found.threshold)}`);
      if (found.words) part.append("p").text(sentence(found.words));
      if (found.advice) part.append("p").attr("class", "advice").text(sentence(found.advice));
    }
    const c = d && d.certificate;
    if (c) {
      const part = card.append("div").attr("class", "finding");
      part.append("h3").text("Certificate");
      part.append("div").attr("class", "value").text(
        `information ${number(c.information)} of at most ${number(c.information_limit)} nats; loss ${number(c.loss)}, bound ${number(c.bound)}, attainable ${number(c.attainable)}`);
      if (c.words) part.append("p").text(sentence(c.words));
    }
    monitorWords(card, run);
    if (!d) missing(card, "Diagnosis and certificate", run, "diagnose");
  }
}

// What the monitor said while training, each sentence once, with the step at which it came last.
function monitorWords(parent, run) {
  const said = new Map();
  for (const line of run.lines) for (const words of list(line.advice)) said.set(String(words).replace(/\([^)]*\)/, ""), {words: String(words), step: line.step});
  if (!said.size) return;
  const part = parent.append("div").attr("class", "finding monitor");
  part.append("h3").text("The monitor said");
  for (const {words, step} of Array.from(said.values()).slice(-6))
    part.append("p").attr("class", "advice").text(`step ${number(step)}: ${words}`);
}

const scoreColumns = [
  ["linear_top1", "linear top 1", true], ["linear_top5", "top 5", true], ["knn_top1", "kNN", true],
  ["cluster_accuracy", "cluster acc.", true], ["kmeans_ami", "k-means AMI"], ["ami", "codes: AMI"],
  ["nmi", "NMI"], ["nmi_chance", "NMI by chance"], ["ari", "ARI"], ["codes_used", "codes used"],
];
function scores(runs) {
  const node = section("scores", "Scores", "On held-out labelled images. NMI grows with the number of codes by chance alone, so its chance level stands beside it; AMI is corrected for it.");
  const rows = [];
  for (const run of runs) {
    if (!run.eval) { missing(node, "Scores", run, "eval"); continue; }
    const add = (name, e) => rows.push({e, cells: [name, ...scoreColumns.map(([key, , share]) =>
      !Number.isFinite(e[key]) ? "–" : share ? percent(e[key]) : key === "codes_used" ? number(e[key]) : e[key].toFixed(3).replace("-", "−"))]});
    add(runs.length > 1 ? run.path : "trained", run.eval);
    for (const [key, name] of [["untrained", "untrained encoder"], ["pixels", "pixels"]])
      if (run.eval[key]) add(runs.length > 1 ? `${run.path}: ${name}` : name, run.eval[key]);
  }
  if (!rows.length) return;
  scoreColumns.forEach(([key], i) => {
    if (["nmi", "nmi_chance", "codes_used"].includes(key)) return;
    const best = d3.max(rows, r => r.e[key]);
    for (const r of rows) if (rows.length > 1 && r.e[key] === best) (r.marks = r.marks || {})[i + 1] = "best";
  });
  for (const r of rows) for (const i of d3.range(1, r.cells.length)) (r.marks = r.marks || {})[i] = `number ${r.marks[i] || ""}`.trim();
  table(node.append("div").attr("class", "card"), ["", ...scoreColumns.map(c => c[1])], rows);
  const e = (runs.find(r => r.eval) || {}).eval;
  node.append("p").attr("class", "note").text(`Probe: ${e.probe || "linear"}, fitted on ${number(e.n_train)} and scored on ${number(e.n_test)} images. Bold: best of its column.`);
}

const curveGroups = [
  ["probe", "Probe accuracy", ["probe_accuracy", "test_accuracy"], "A linear classifier trained beside the encoder, which does not feel it.", {zero: true}],
  ["codes", "Codes in use", ["codes_used"], "exp of the entropy of the mean code: how many codes share the images.", {zero: true}],
  ["information", "Information", ["information", "agreement"], "In nats: what a code tells about its image, and how much of that two views share at least.", {}],
  ["rank", "Effective rank", ["effective_rank"], "How many dimensions the embeddings fill.", {zero: true}],
  ["spread", "Spread within codes", ["within_spread"], "Share of the variance that is left among the images of one code.", {zero: true}],
  ["ratio", "Loss over ln c", ["loss_over_ln_c"], "1 when every image has one and the same code.", {}],
  ["gradient", "Gradient norm", ["gradient_norm"], "", {}],
  ["rate", "Learning rate", ["learning_rate"], "", {zero: true}],
  ["speed", "Images per second", ["images_per_second"], "", {zero: true}],
];
const curveWords = {probe_accuracy: "training batches", test_accuracy: "test images", agreement: "shared by views"};
function curveParts(runs) {
  const known = new Set(["step", "epoch", ...curveGroups.flatMap(g => g[2])]);
  const names = Array.from(new Set(runs.flatMap(r => [...r.lines.slice(0, 3), ...r.lines.slice(-30)].flatMap(l => Object.keys(l)))));
  const terms = names.filter(n => !known.has(n) && runs.some(r => r.lines.some(l => typeof l[n] === "number")));
  terms.sort((a, b) => (b === "loss") - (a === "loss"));
  const x = runs.every(r => r.lines.every(l => Number.isFinite(l.epoch))) ? "epoch" : "step";
  return [["loss", "Loss", terms, "What is minimised, and the terms it is made of.", {}], ...curveGroups]
    .map(([name, title, keys, note, more]) => ({
      spec: {name, title, note, xLabel: x, ...more},
      parts: keys.flatMap(key => runs.map(run => ({
        run, what: curveWords[key] || (keys.length > 1 ? key.replace(/_/g, " ") : title),
        points: run.lines.filter(l => Number.isFinite(l[key])).map(l => [l[x], l[key]]),
      }))),
    })).filter(g => g.parts.some(p => p.points.length));
}
function drawCurves(node, runs) {
  node.selectAll(".grid, .missing").remove();
  for (const run of runs) if (!run.lines.length) missing(node, "Curves", run, "train --resume");
  const grid = node.append("div").attr("class", "grid");
  return curveParts(runs).flatMap(g => beside(grid, runs, g.spec, g.parts));
}
let curves = null;  // the plots of the section below, to be updated while a run trains
function training(runs) {
  const node = section("training", "Training", "Drag over a plot to look closer, double click to see all of it again; click a name to hide its line.");
  curves = {node, plots: drawCurves(node, runs), shape: curveShape(runs)};
}
// Which plots there are and with which lines: while only numbers change, plots stay and keep their zoom.
const curveShape = runs => JSON.stringify(curveParts(runs).map(g => [g.spec.name, g.spec.xLabel, g.parts.map(p => [p.run.path, p.what, p.points.length > 0])]));
function updateCurves(runs) {
  if (curves.shape !== curveShape(runs)) {
    curves.plots = drawCurves(curves.node, runs);
    curves.shape = curveShape(runs);
    return;
  }
  let at = 0;
  for (const g of curveParts(runs)) {
    const used = g.parts.filter(p => p.points.length);
    const groups = runs.length > 1 ? Array.from(new Set(used.map(p => p.what)), what => used.filter(p => p.what === what)) : [used];
    for (const group of groups) curves.plots[at++].update(group.map((p, i) => ({
      name: runs.length > 1 ? p.run.path : p.what, colour: runs.length > 1 ? p.run.colour : plots.colour(i), points: p.points})));
  }
}

function structure(runs) {
  const with_ = runs.filter(r => r.diagnosis);
  const node = section("structure", "Structure", "What the representations and embeddings of the images look like, without labels.");
  for (const run of runs) if (!run.diagnosis) missing(node, "Spectrum, entropy, heat maps and code usage", run, "diagnose");
  if (!with_.length) return;
  const grid = node.append("div").attr("class", "grid two");
  const kinds = ["representation", "embedding"];
  beside(grid, runs, {name: "spectrum", title: "Spectrum", xLabel: "index", logX: true, logY: true,
    note: "Singular values, largest first. A cliff means lost dimensions."},
    kinds.flatMap(kind => ["centred", "uncentred"].flatMap(which => with_.map(run => ({
      run, what: `${kind}, ${which}`, points: list(((run.diagnosis.spectra || {})[kind] || {})[which]).map((v, i) => [i + 1, v])})))));
  beside(grid, runs, {name: "entropy", title: "Entropy", xLabel: "components of the mixture",
    note: "Entropy in nats of a Gaussian mixture fitted with so many components; the band is the standard error."},
    [...kinds, "padded"].flatMap(kind => with_.map(run => {
      const e = run.diagnosis.entropy || {}, k = e[kind] || {};
      return {run, what: kind, points: list(k.nats).map((v, i) => [list(e.components)[i], v, list(k.standard_error)[i]])};
    })));
  beside(grid, runs, {name: "usage", title: "Code usage", xLabel: "codes, most used first", step: true, zero: true,
    note: with_.filter(r => r.diagnosis.usage).map(r => `${runs.length > 1 ? `${r.path}: ` : ""}${plural(r.diagnosis.usage.codes_used, "code")} used, perplexity ${number(r.diagnosis.usage.perplexity)}`).join("; ")},
    with_.map(run => ({run, what: "images", points: list((run.diagnosis.usage || {}).counts).map((v, i) => [i + 1, v])})));
  const heats = node.append("div").attr("class", "grid below");
  const heat = (key, title, run, note, signed) => {
    const h = run.diagnosis[key];
    if (!h || !list(h.values).length) return;
    plots.heat(heats, {name: runs.length > 1 ? `${key}-${runs.indexOf(run) + 1}` : key, title: runs.length > 1 ? `${title} of ${run.path}` : title,
      values: h.values, signed: signed || d3.min(h.values.flat()) < -1e-9, note: note(h)});
  };
  for (const run of with_) heat("covariance", "Covariance", run, h =>
    `Of the embeddings, ${h.of > h.values.length ? `${h.values.length} of ${h.of}` : h.of} directions. A strong diagonal and nothing beside it is best.`, true);
  for (const run of with_) heat("adjacency", "Adjacency", run, h =>
    `${h.values.length} images ordered by their code: blocks are images that the encoder sees as alike.`, false);
  const names = Array.from(new Set(with_.flatMap(run => Object.keys(measures(run.diagnosis)))));
  const rows = names.map(name => ({cells: [name, ...with_.map(run => measures(run.diagnosis)[name] ?? "–")]}));
  if (rows.length) table(heats.append("div").attr("class", "card"), ["measure", ...with_.map(r => runs.length > 1 ? r.path : "")], rows);
}

// The single numbers of a diagnosis, by name.
function measures(d) {
  const found = {};
  for (const [kind, s] of Object.entries(d.spectra || {})) if (s) {
    found[`effective rank, ${kind}`] = s.effective_rank;
    found[`decay of the spectrum α, ${kind}`] = s.alpha;
  }
  for (const [kind, s] of Object.entries(d.statistics || {})) if (s) {
    found[`mean |mean|, ${kind.replace(/_/g, " ")}`] = s.mean;
    found[`mean standard deviation, ${kind.replace(/_/g, " ")}`] = s.std;
  }
  for (const [kind, value] of Object.entries(d.bound || {})) found[`bound: ${kind.replace(/_/g, " ")}`] = value;
  return Object.fromEntries(Object.entries(found).filter(([, value]) => Number.isFinite(value)));
}

const classColour = (i, count) => count <= 10 ? d3.schemeTableau10[i % 10] : d3.hcl(360 * i / count, 60, 68 - 14 * (i % 2)).toString();
const codeColour = code => d3.hcl((code * 222.49) % 360, 55, 64).toString();  // neighbours far apart on the circle of hues
function maps(runs) {
  const with_ = runs.filter(r => r.gallery && r.gallery.map);
  const node = section("map", "Map", "Each point is an image; images that the encoder sees as alike lie near each other. Point at one to see it.");
  for (const run of runs) if (!with_.includes(run)) missing(node, "The map of images", run, "diagnose");
  if (!with_.length) return;
  const state = {layout: "tsne", by: "label"};
  const row = node.append("div").attr("class", "row");
  const redraw = [];
  const choice = (key, value, words) => row.append("button").attr("type", "button").attr("data-choice", value)
    .attr("aria-pressed", state[key] === value).text(words).on("click", function () {
      state[key] = value;
      row.selectAll("button").filter(function () { return this.dataset.key === key; })
        .attr("aria-pressed", function () { return this.dataset.choice === value; });
      for (const act of redraw) act();
    }).attr("data-key", key);
  choice("layout", "tsne", "t-SNE");
  choice("layout", "pca", "PCA");
  row.append("span").attr("class", "note").text("coloured by");
  choice("by", "label", "class");
  choice("by", "code", "code");
  const grid = node.append("div").attr("class", with_.length > 1 ? "grid two" : "grid one");
  for (const run of with_) {
    const m = run.gallery.map, classes = list(run.gallery.classes);
    const className = i => { const l = list(m.label)[i]; return l >= 0 ? String(classes[l] ?? l) : "unknown"; };
    const colourOf = i => {
      const value = list(m[state.by])[i];
      return !(value >= 0) ? "#8d939c" : state.by === "label" ? classColour(value, classes.length) : codeColour(value);
    };
    const points = () => list(m[state.layout]).map((p, i) => ({x: p[0], y: p[1], colour: colourOf(i), describe: box => {
      tile(box, run, list(m.tile)[i], 96);
      box.append("b").text(className(i));
      if (list(m.code)[i] >= 0) box.append("div").text(`code ${m.code[i]}`);
      if (list(m.file)[i]) box.append("div").text(m.file[i]);
    }}));
    const legend = () => state.by !== "label" || classes.length > 24 ? []
      : classes.map((name, i) => ({name: String(name), colour: classColour(i, classes.length)}));
    const plot = plots.scatter(grid, {name: `map${runs.length > 1 ? `-${runs.indexOf(run) + 1}` : ""}`,
      title: runs.length > 1 ? `Map of ${run.path}` : "Map of the images", note: plural(list(m[state.layout]).length, "image"),
      points: points(), legend: legend(),
      table: () => [["tsne_x", "tsne_y", "pca_x", "pca_y", "class", "code", "file"],
                    ...list(m.tsne).map((p, i) => [p[0], p[1], ...(list(m.pca)[i] || ["", ""]), className(i), list(m.code)[i], list(m.file)[i]])]});
    redraw.push(() => plot.update(points(), legend()));
  }
}

function clusters(runs) {
  const with_ = runs.filter(r => r.gallery && r.gallery.clusters);
  if (!with_.length) return;
  const node = section("clusters", "Clusters", "Images that share a code: the codes with most images, and those whose images lie closest together.");
  for (const run of with_) {
    const grid = node.append("div").attr("class", "grid two");
    for (const [key, title] of [["largest", "Largest"], ["tightest", "Tightest"]]) {
      const card = grid.append("div").attr("class", "card");
      card.append("h3").text(runs.length > 1 ? `${title}, ${run.path}` : title);
      for (const c of list(run.gallery.clusters[key])) {
        const part = card.append("div").attr("class", "cluster");
        part.append("div").attr("class", "note").text([`code ${c.code}`, plural(c.images, "image"), `spread ${number(c.spread)}`,
          c.label != null ? `mostly ${c.label}${Number.isFinite(c.purity) ? ` (${percent(c.purity)})` : ""}` : ""].filter(Boolean).join(" · "));
        const tiles = part.append("div").attr("class", "tiles");
        for (const index of list(c.tiles)) tile(tiles, run, index, 40);
      }
    }
  }
}

function settings(runs) {
  const node = section("settings", "Settings", runs.length > 1 ? "Rows in which the runs differ are highlighted." : "Bold: not the default.");
  const names = Array.from(new Set(runs.flatMap(r => list(r.settings).map(s => s.name))));
  const rows = names.map(name => {
    const found = runs.map(run => list(run.settings).find(s => s.name === name) || {});
    const values = found.map(s => s.value ?? "–");
    const differs = new Set(values).size > 1;
    const changed = found.map(s => s.value !== undefined && s.value !== s.standard);
    const marks = {};
    changed.forEach((c, i) => { if (c) marks[i + 1] = "changed"; });
    return {cells: [name, ...values, (found.find(s => s.help) || {}).help || ""], differs, changed: changed.some(Boolean), className: differs ? "differs" : "", marks: {...marks, [runs.length + 1]: "help"}};
  });
  const card = node.append("div").attr("class", "card");
  let all = false;
  const draw = () => {
    card.selectAll(".scroll, .note").remove();
    const shown = rows.filter(r => all || r.differs || (runs.length === 1 && r.changed));
    if (shown.length) table(card, ["setting", ...(runs.length > 1 ? runs.map(r => r.path) : ["value"]), ""], shown, "settings");
    else card.append("p").attr("class", "note").text(rows.length ? "No setting differs." : "config.toml is not there.");
  };
  const toggle = card.append("div").attr("class", "row").append("button").attr("type", "button").attr("aria-pressed", false)
    .text("Show all").on("click", () => { all = !all; toggle.attr("aria-pressed", all); draw(); });
  draw();
  node.append("p").attr("class", "lead").text(runs.length > 1 ? "Commands that train the same again:" : "The command that trains the same again:");
  for (const run of runs) {
    node.append("pre").attr("class", "command").append("code").text(run.command);
    const button = node.append("div").attr("class", "row").append("button").attr("type", "button").text("Copy")
      .on("click", () => (navigator.clipboard ? navigator.clipboard.writeText(run.command) : Promise.reject())
        .then(() => button.text("Copied"), () => button.text("Select it to copy")));
  }
}

// Everything about the runs; first(), if given, draws what stands above.
function render(runs, first) {
  main.selectAll("*").remove();
  d3.select("nav").selectAll("*").remove();
  runs.forEach((run, i) => { run.colour = plots.colour(i); });
  if (first) first();
  if (!runs.length) return;
  head(main.append("div").attr("id", "head"), runs);
  for (const part of [health, scores, training, structure, maps, clusters, settings]) {
    try {
      part(runs);
    } catch (error) {  // a file of another shape: the other parts are still worth showing
      main.append("p").attr("class", "problem").text(`The part "${part.name}" cannot be shown: ${error.message}`);
    }
  }
}

// What follows from new lines of metrics.
function grow(runs) {
  updateCurves(runs);
  head(d3.select("#head").text(null), runs);
  drawHealth(d3.select("#verdict"), runs);
}

return {render, grow, section, addLines, addSprite};
})();
