// Where runs come from: the page itself, or `cplearn ui` while they train. Light, dark and paper.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);

// ---------------------------------------------------------------- live: runs of `cplearn ui`
const live = {known: [], ticked: new Set(), runs: new Map()};
const tickedRuns = () => live.known.filter(k => live.ticked.has(k.name)).map(k => live.runs.get(k.name)).filter(Boolean);

function chooser() {
  const node = pieces.section("runs", "Runs", live.known.length
    ? "Tick several to see them side by side." : "There are none in this folder yet; those that begin show up here.");
  node.append("div").attr("class", "chooser");
  fillChooser();
}
function fillChooser() {
  const box = d3.select(".chooser");
  const labels = box.selectAll("label").data(live.known, k => k.name);
  labels.exit().remove();
  const fresh = labels.enter().append("label");
  fresh.append("input").attr("type", "checkbox").on("change", function (k) {
    if (this.checked) live.ticked.add(k.name); else live.ticked.delete(k.name);
    poll(true);
  });
  fresh.append("span").text(k => k.name);
  fresh.append("small");
  const both = fresh.merge(labels).order();
  both.select("input").property("checked", k => live.ticked.has(k.name));
  both.select("small").text(k => k.finished ? "finished" : Date.now() / 1000 - k.changed < 60 ? "training" : "stopped");
}

const ask = async path => {
  const answer = await fetch(path, {cache: "no-store"});
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer;
};

// Brings one run up to date; true if more than its curves changed.
async function refresh(known) {
  const name = encodeURIComponent(known.name);
  let run = live.runs.get(known.name), changed = false;
  if (!run || run.stamp !== known.stamp) {
    const next = await (await ask(`api/run?name=${name}`)).json();
    next.sprite = pieces.addSprite(next.gallery && next.gallery.sprite);
    run = Object.assign({lines: [], offset: 0}, run, next, {stamp: known.stamp});
    live.runs.set(known.name, run);
    changed = true;
  }
  if (known.metrics < run.offset) { run.lines = []; run.offset = 0; }  // began anew
  while (run.offset < known.metrics) {
    const bytes = await (await ask(`api/metrics?name=${name}&from=${run.offset}`)).arrayBuffer();
    if (!bytes.byteLength) break;
    pieces.addLines(run, new TextDecoder().decode(bytes));
    run.offset += bytes.byteLength;  // of the file: what is not UTF-8 is longer once decoded
    run.grew = true;
  }
  return changed;
}

let polling = false, again = false;
async function poll(all) {
  if (polling) { again = again || all; return; }
  polling = true;
  const pulse = d3.select(".pulse");
  try {
    const first = !live.known.length;
    live.known = await (await ask("api/runs")).json();
    if (first && live.known.length) {  // the newest one to begin with
      live.ticked.add(live.known[d3.scan(live.known, (a, b) => b.changed - a.changed)].name);
      all = true;
    }
    let whole = all || !document.querySelector("main section");
    for (const known of live.known) if (live.ticked.has(known.name)) whole = await refresh(known) || whole;
    const runs = tickedRuns();
    if (whole) draw();
    else if (runs.some(r => r.grew)) page.grow(runs);
    for (const run of runs) run.grew = false;
    if (!whole) fillChooser();
    pulse.attr("hidden", null).classed("gone", false).text("live");
  } catch (error) {
    pulse.attr("hidden", null).classed("gone", true).text("no answer: is cplearn ui still running?");
  }
  polling = false;
  if (again) { again = false; poll(true); }
}

const draw = () => data.live ? page.render(tickedRuns(), chooser) : page.render(data.runs);

// ---------------------------------------------------------------- light, dark, paper
const root = document.documentElement;
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const remember = value => { try { localStorage.setItem("cplearn-theme", value); } catch (error) { /* not allowed for files */ } };
function showTheme(theme) {
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  d3.select("#theme").text(isDark() ? "Light" : "Dark");
}
try { showTheme(localStorage.getItem("cplearn-theme") === "dark" ? "dark" : localStorage.getItem("cplearn-theme") === "light" ? "light" : ""); } catch (error) { showTheme(""); }
d3.select("#theme").on("click", () => { showTheme(isDark() ? "light" : "dark"); remember(root.dataset.theme); draw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { showTheme(root.dataset.theme); draw(); });
let kept = null;
addEventListener("beforeprint", () => { kept = root.dataset.theme || ""; if (isDark()) { showTheme("light"); draw(); } });
addEventListener("afterprint", () => { if (kept !== null && root.dataset.theme !== kept) { showTheme(kept); draw(); } });

d3.select("footer").append("p").text(`Made by cplearn ${data.version} from the files of the ${data.runs.length === 1 ? "run" : "runs"}. Plots: D3.`);
if (data.live) {
  poll(true);
  setInterval(() => poll(false), 2000);
} else {
  for (const run of data.runs) {
    run.lines = [];
    pieces.addLines(run, run.metrics);
    run.sprite = pieces.addSprite(run.gallery && run.gallery.sprite);
  }
  draw();
}
})();
