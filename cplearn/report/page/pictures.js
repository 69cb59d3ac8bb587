// The sections that show what `cplearn diagnose` found: structure, map, clusters.
"use strict";
const pictures = (() => {
const {number} = plots;
const {percent, list, plural, tile, section, missing, table, beside} = pieces;

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

return {structure, maps, clusters};
})();
