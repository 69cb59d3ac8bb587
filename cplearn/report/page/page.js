// The page about runs: its sections, from the records that report/page.h makes of a run's files.
"use strict";
const page = (() => {
const {number} = plots;
const {percent, list, sentence, setting, lastLine, lastWith, verdictOf, section, missing, runName, pill, table, grouped, seriesOf, beside} = pieces;
const {structure, maps, clusters} = pictures;
const main = d3.select("main");

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
    const record = (d || run.summary || {}).verdict_record;
    if (record) card.append("p").attr("class", "note").text(sentence(`how sure is that? ${record}`));
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
  for (const line of run.lines) for (const words of list(line.advice)) said.set(String(words).replace(/[:(].*/, ""), {words: String(words), step: line.step});
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
  ["codes", "Codes in use", ["codes_used"], "exp of the entropy of the codes of recent images: how many codes share them.", {zero: true}],
  ["information", "Information", ["information", "agreement"], "In nats: what a code tells about its image, and how much of that two views share at least.", {}],
  ["rank", "Effective rank", ["representation_rank", "effective_rank", "start_rank"], "How many dimensions are filled. The judge holds the representations against those of the first steps.", {zero: true}],
  ["spread", "Spread within codes", ["within_spread"], "Share of the variance that is left among the images of one code.", {zero: true}],
  ["ratio", "Loss over ln c", ["loss_over_ln_c"], "1 when every image has one and the same code.", {}],
  ["gradient", "Gradient norm", ["gradient_norm"], "", {}],
  ["rate", "Learning rate", ["learning_rate"], "", {zero: true}],
  ["speed", "Images per second", ["images_per_second"], "", {zero: true}],
];
const curveWords = {probe_accuracy: "training batches", test_accuracy: "test images", agreement: "shared by views", representation_rank: "representations", effective_rank: "embeddings", start_rank: "representations at the start"};
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
  for (const g of curveParts(runs))
    for (const group of grouped(runs, g.parts)) curves.plots[at++].update(seriesOf(runs, group));
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

return {render, grow};
})();
