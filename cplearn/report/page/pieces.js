// What the sections of the page are made of: facts about a run, its images, and small pieces of text and tables.
"use strict";
const pieces = (() => {
const {number} = plots;
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
  const words = (run.diagnosis || {}).verdict || (run.summary || {}).verdict || (judged || {}).verdict || "unknown";
  return {words: String(words), kind: String(words).startsWith("doubtful") ? "warning" : ["healthy", "warning", "collapsed"].find(k => String(words).startsWith(k)) || "unknown"};
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
  const node = d3.select("main").append("section").attr("id", id);
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

// Which parts share a plot: all of one run; of several runs, those about the same thing, with a line for each run.
// parts: [{run, what, points}]
function grouped(runs, parts) {
  const used = parts.filter(p => p.points.length);
  const groups = runs.length > 1 ? Array.from(new Set(used.map(p => p.what)), what => used.filter(p => p.what === what)) : [used];
  return groups.filter(g => g.length);
}
const seriesOf = (runs, group) => group.map((p, i) => ({
  name: runs.length > 1 ? p.run.path : p.what, colour: runs.length > 1 ? p.run.colour : plots.colour(i), points: p.points}));
function beside(parent, runs, spec, parts) {
  return grouped(runs, parts).map(group => {
    const several = runs.length > 1;
    const named = several && spec.title.toLowerCase() !== group[0].what.toLowerCase();
    return plots.lines(parent, {
      ...spec,
      title: named ? `${spec.title}: ${group[0].what}` : spec.title,
      name: named ? `${spec.name}-${group[0].what}`.replace(/[^\w-]+/g, "-") : spec.name,
      legend: several,
      series: seriesOf(runs, group),
    });
  });
}

return {percent, list, sentence, plural, addLines, setting, lastLine, lastWith, verdictOf, addSprite, tile, section, missing, runName, pill, table, grouped, seriesOf, beside};
})();
