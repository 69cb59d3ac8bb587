// Plots on d3: a figure has a heading, a drawing, a legend, and buttons that save it as SVG and CSV.
// Everything that comes from files is set as text or as a number, never as markup.
"use strict";
const plots = (() => {

const palette = ["#3f75b3", "#d9772f", "#4c9661", "#b0506f", "#8371bd", "#94793f", "#3f979f", "#bb5f9c"];
const colour = i => palette[i % palette.length];

// A number as people read it: four digits that count.
function number(value) {
  if (value === null || value === undefined || !Number.isFinite(+value)) return "–";
  const x = +value, size = Math.abs(x);
  const text = x === 0 ? "0"
    : Number.isInteger(x) && size < 1e7 ? d3.format(",")(x)
    : size >= 1e6 || size < 1e-3 ? d3.format(".3~e")(x)
    : d3.format(".4~r")(x);
  return text.replace(/^-/, "−");
}

// ---------------------------------------------------------------- the one tooltip
const tipBox = d3.select("body").append("div").attr("class", "tip").attr("role", "status");
const tip = {
  show(event, fill) {
    tipBox.text(null).call(fill).classed("shown", true);
    const box = tipBox.node().getBoundingClientRect(), gap = 14;
    const x = event.clientX + gap + box.width > innerWidth ? event.clientX - gap - box.width : event.clientX + gap;
    const y = event.clientY + gap + box.height > innerHeight ? event.clientY - gap - box.height : event.clientY + gap;
    tipBox.style("left", `${Math.max(4, x)}px`).style("top", `${Math.max(4, y)}px`);
  },
  hide() { tipBox.classed("shown", false); },
};

// ---------------------------------------------------------------- saving
function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], {type}));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// A field that begins like a formula is one for spreadsheets: such text gets an apostrophe.
function csvField(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  let text = String(value ?? "");
  if (/^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
const csvText = rows => rows.map(row => row.map(csvField).join(",")).join("\n") + "\n";

// The drawing alone, with what the page's style gave it written into it.
const styleNames = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity",
                    "font-family", "font-size", "text-anchor", "image-rendering"];
function svgText(svg) {
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*"), copies = copy.querySelectorAll("*");
  originals.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of styleNames) copies[i].setAttribute(name, style.getPropertyValue(name));
    copies[i].removeAttribute("class");
    copies[i].removeAttribute("style");
  });
  copy.querySelectorAll("[data-transient]").forEach(node => node.remove());
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.removeAttribute("class");
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  back.setAttribute("width", "100%");
  back.setAttribute("height", "100%");
  back.setAttribute("fill", getComputedStyle(svg.closest(".plot")).backgroundColor);
  copy.prepend(back);
  return new XMLSerializer().serializeToString(copy);
}

// ---------------------------------------------------------------- the frame of every plot
// draw(width) draws; table() gives rows for CSV.
function figure(parent, {title, note, name, draw, table}) {
  const box = parent.append("figure").attr("class", "plot").attr("data-name", name);
  box.append("figcaption").text(title);
  if (note) box.append("p").attr("class", "note").text(note);
  const holder = box.append("div").attr("class", "drawing");
  const svg = holder.append("svg").attr("role", "img").attr("aria-label", title);
  const legend = box.append("div").attr("class", "legend");
  const tools = box.append("div").attr("class", "tools");
  const button = (label, what, act) =>
    tools.append("button").attr("type", "button").attr("title", what).text(label).on("click", act);
  button("SVG", "Save the drawing", () => save(`${name}.svg`, "image/svg+xml", svgText(svg.node())));
  button("CSV", "Save the numbers", () => save(`${name}.csv`, "text/csv", csvText(table())));
  let drawn = 0;
  const redraw = () => { drawn = holder.node().clientWidth; if (drawn > 0) draw(drawn); };
  const fit = () => { if (holder.node().clientWidth !== drawn) redraw(); };
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(holder.node());
  return {box, svg, legend, button, redraw};
}

function clear(svg, width, height) {
  svg.selectAll("*").remove();
  return svg.attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("height", height);
}

// At most two points for every pixel: the least and the largest, so that no peak is lost.
function thin(points, width) {
  if (points.length <= 2 * width) return points;
  const every = Math.ceil(points.length / width), kept = [];
  for (let i = 0; i < points.length; i += every) {
    const part = points.slice(i, i + every);
    const low = d3.scan(part, (a, b) => a[1] - b[1]), high = d3.scan(part, (a, b) => b[1] - a[1]);
    for (const k of low < high ? [low, high] : [high, low]) if (part[k]) kept.push(part[k]);
  }
  return kept;
}

// ---------------------------------------------------------------- lines
// series: [{name, colour, points: [[x, y, error?], ...]}]; also xLabel, logX, logY, step, zero.
function lines(parent, spec) {
  let series = spec.series, range = null;
  const hidden = new Set();
  const usable = p => Number.isFinite(p[0]) && Number.isFinite(p[1]) && (!spec.logX || p[0] > 0) && (!spec.logY || p[1] > 0);
  const frame = figure(parent, {...spec, draw, table});

  function table() {
    const rows = [[spec.xLabel || "x", ...series.map(s => s.name)]];
    const byX = new Map();
    series.forEach((s, i) => s.points.forEach(p => {
      if (!byX.has(p[0])) byX.set(p[0], Array(series.length).fill(""));
      byX.get(p[0])[i] = p[1];
    }));
    for (const x of Array.from(byX.keys()).sort(d3.ascending)) rows.push([x, ...byX.get(x)]);
    return rows;
  }

  function drawLegend() {
    frame.legend.selectAll("*").remove();
    if (series.length < 2 && !spec.legend) return;
    for (const s of series) {
      const item = frame.legend.append("button").attr("type", "button").attr("aria-pressed", !hidden.has(s.name))
        .attr("title", "Show or hide").on("click", () => {
          if (!hidden.delete(s.name)) hidden.add(s.name);
          frame.redraw();
        });
      item.append("i").style("background", s.colour);
      item.append("span").text(s.name);
    }
  }

  function draw(width) {
    drawLegend();
    const height = Math.round(Math.max(190, Math.min(270, width * 0.55)));
    const left = 50, right = width - 10, top = 10, bottom = height - 36;
    const svg = clear(frame.svg, width, height);
    const shown = series.filter(s => !hidden.has(s.name))
      .map(s => ({...s, points: s.points.filter(p => usable(p) && (!range || (p[0] >= range[0] && p[0] <= range[1])))}));
    const all = shown.flatMap(s => s.points);
    if (!all.length) {
      svg.append("text").attr("x", width / 2).attr("y", height / 2).attr("text-anchor", "middle").text("no values yet");
      return;
    }
    const widen = ([a, b], log) => a < b ? [a, b] : log ? [a / 2, a * 2] : [a - (Math.abs(a) || 1) / 2, a + (Math.abs(a) || 1) / 2];
    const xs = range || widen(d3.extent(all, p => p[0]), spec.logX);
    const low = d3.min(all, p => p[1] - (p[2] || 0)), high = d3.max(all, p => p[1] + (p[2] || 0));
    const ys = widen([spec.zero ? Math.min(0, low) : spec.logY ? d3.min(all, p => p[1]) : low, high], spec.logY);
    const x = (spec.logX ? d3.scaleLog() : d3.scaleLinear()).domain(xs).range([left, right]);
    const y = (spec.logY ? d3.scaleLog() : d3.scaleLinear()).domain(ys).nice().range([bottom, top]);

    // A logarithmic axis within one decade is labelled like a linear one.
    const axis = (make, scale, log, count) => {
      const decades = log ? Math.log10(scale.domain()[1] / scale.domain()[0]) : 0;
      const ticks = decades >= 2 ? scale.ticks().filter(t => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-9)
                                 : d3.scaleLinear().domain(scale.domain()).ticks(count);
      const every = Math.ceil(ticks.length / (count + 2));
      return make(scale).tickValues(ticks.filter((t, i) => i % every === 0)).tickFormat(number).tickSizeOuter(0);
    };
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`)
      .call(axis(d3.axisBottom, x, spec.logX, Math.max(3, width / 90)));
    const yAxis = svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`)
      .call(axis(d3.axisLeft, y, spec.logY, 5));
    yAxis.select(".domain").remove();
    yAxis.selectAll(".tick line").attr("class", "gridline").attr("x1", 0).attr("x2", right - left);
    if (spec.xLabel)
      svg.append("text").attr("x", right).attr("y", height - 4).attr("text-anchor", "end").text(spec.xLabel);

    const curve = spec.step ? d3.curveStepAfter : d3.curveLinear;
    for (const s of shown) {
      if (s.points.some(p => p[2] > 0))
        svg.append("path").attr("class", "band").attr("fill", s.colour)
          .attr("d", d3.area().x(p => x(p[0])).y0(p => y(p[1] - (p[2] || 0))).y1(p => y(p[1] + (p[2] || 0)))(s.points));
      if (spec.step)
        svg.append("path").attr("class", "band").attr("fill", s.colour)
          .attr("d", d3.area().x(p => x(p[0])).y0(bottom).y1(p => y(p[1])).curve(curve)(s.points));
      svg.append("path").attr("class", "curve").attr("stroke", s.colour)
        .attr("d", d3.line().x(p => x(p[0])).y(p => y(p[1])).curve(curve)(thin(s.points, width)));
      if (s.points.length === 1)
        svg.append("circle").attr("cx", x(s.points[0][0])).attr("cy", y(s.points[0][1])).attr("r", 3).attr("fill", s.colour);
    }

    // Drag to zoom, double click to see all again, move to read.
    const mark = svg.append("g").attr("data-transient", "");
    const overlay = svg.append("g").attr("class", "overlay").attr("data-transient", "");
    const brush = d3.brushX().extent([[left, top], [right, bottom]]).touchable(false).on("end", () => {
      if (!d3.event.sourceEvent || !d3.event.selection) return;
      range = d3.event.selection.map(x.invert);
      frame.redraw();
    });
    overlay.call(brush).on("dblclick", () => { range = null; frame.redraw(); });
    const bisect = d3.bisector(p => p[0]).left;
    overlay.on("mousemove", () => {
      const at = x.invert(d3.mouse(svg.node())[0]);
      const nearest = points => {
        const i = bisect(points, at);
        return i > 0 && (i === points.length || at - points[i - 1][0] < points[i][0] - at) ? points[i - 1] : points[i];
      };
      const found = shown.filter(s => s.points.length).map(s => ({...s, point: nearest(s.points)}));
      const here = found.map(s => s.point[0]).sort((a, b) => Math.abs(a - at) - Math.abs(b - at))[0];
      mark.selectAll("*").remove();
      mark.append("line").attr("class", "rule").attr("x1", x(here)).attr("x2", x(here)).attr("y1", top).attr("y2", bottom);
      for (const s of found)
        mark.append("circle").attr("cx", x(s.point[0])).attr("cy", y(s.point[1])).attr("r", 3.5).attr("fill", s.colour);
      tip.show(d3.event, box => {
        box.append("b").text(`${spec.xLabel || "x"} ${number(here)}`);
        for (const s of found) {
          const row = box.append("div");
          row.append("span").attr("class", "dot").style("background", s.colour);
          row.append("span").text(`${series.length > 1 ? `${s.name}: ` : ""}${number(s.point[1])}`
                                  + (s.point[2] > 0 ? ` ± ${number(s.point[2])}` : ""));
        }
      });
    }).on("mouseleave", () => { mark.selectAll("*").remove(); tip.hide(); });
  }

  frame.button("Reset", "Show everything again", () => { range = null; hidden.clear(); frame.redraw(); });
  frame.redraw();
  return {name: spec.name, update(next) { series = next; frame.redraw(); }};
}

// ---------------------------------------------------------------- what can be zoomed as a picture
// Drag to move; zoom with the buttons, a double click, or Ctrl and the wheel (a wheel alone scrolls the page).
function zoomable(frame, size, onZoom) {
  const zoom = d3.zoom().scaleExtent([1, 24]).touchable(false)
    .filter(() => d3.event.type !== "wheel" || d3.event.ctrlKey || d3.event.metaKey)
    .on("zoom", () => onZoom(d3.event.transform));
  frame.button("+", "Larger", () => frame.svg.transition().duration(150).call(zoom.scaleBy, 1.6));
  frame.button("−", "Smaller", () => frame.svg.transition().duration(150).call(zoom.scaleBy, 1 / 1.6));
  frame.button("Reset", "Show everything again", () => frame.svg.transition().duration(150).call(zoom.transform, d3.zoomIdentity));
  frame.svg.classed("zoomable", true);
  return () => {  // after every drawing
    zoom.extent([[0, 0], size()]).translateExtent([[0, 0], size()]);
    frame.svg.call(zoom);
    onZoom(d3.zoomTransform(frame.svg.node()));
  };
}

let clips = 0;
function clipped(svg, width, height) {
  const id = `clip-${clips++}`;
  svg.append("clipPath").attr("id", id).append("rect").attr("width", width).attr("height", height);
  return svg.append("g").attr("clip-path", `url(#${id})`).append("g");
}

// ---------------------------------------------------------------- heat maps
// values: rows of numbers. signed: blue below 0, red above; otherwise from pale to dark.
function heat(parent, spec) {
  const rows = spec.values.length, columns = d3.max(spec.values, row => row.length) || 0;
  const flat = spec.values.flat().filter(Number.isFinite);
  const top = d3.max(flat, Math.abs) || 1;
  let group = null, width = 0;
  const frame = figure(parent, {...spec, draw, table: () => spec.values});
  const ready = zoomable(frame, () => [width, width], t => { if (group) group.attr("transform", t); });

  function shade(value) {
    const dark = d3.lab(getComputedStyle(frame.box.node()).backgroundColor).l < 50;
    const middle = dark ? "#20252d" : "#f7f6f3";
    if (spec.signed) return value < 0 ? d3.interpolateRgb(middle, "#3f75b3")(-value / top) : d3.interpolateRgb(middle, "#cc4a3d")(value / top);
    return d3.interpolateRgb(middle, dark ? "#9cc3ea" : "#24527f")(Math.sqrt(Math.max(0, value) / top));
  }
  function picture() {
    const canvas = document.createElement("canvas");
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext("2d");
    spec.values.forEach((row, i) => row.forEach((value, j) => {
      if (!Number.isFinite(value)) return;
      context.fillStyle = shade(value);
      context.fillRect(j, i, 1, 1);
    }));
    return canvas.toDataURL("image/png");
  }
  function draw(available) {
    width = Math.min(available, 420);
    const svg = clear(frame.svg, width, width + 34);
    group = clipped(svg, width, width);
    if (!rows || !columns) return;
    group.append("image").attr("width", width).attr("height", width).attr("preserveAspectRatio", "none")
      .attr("image-rendering", "pixelated").style("image-rendering", "pixelated").attr("href", picture());
    // The scale below: from the least to the largest colour.
    const ends = spec.signed ? [-top, top] : [0, top];
    const steps = 40, bar = Math.min(width, 200);
    for (let i = 0; i < steps; ++i)
      svg.append("rect").attr("x", i * bar / steps).attr("y", width + 10).attr("width", bar / steps + 0.5).attr("height", 8)
        .attr("fill", shade(ends[0] + (ends[1] - ends[0]) * (i + 0.5) / steps));
    svg.append("text").attr("x", 0).attr("y", width + 31).text(number(ends[0]));
    svg.append("text").attr("x", bar).attr("y", width + 31).attr("text-anchor", "end").text(number(ends[1]));
    svg.on("mousemove", () => {
      const [px, py] = d3.zoomTransform(svg.node()).invert(d3.mouse(svg.node()));
      const i = Math.floor(py / width * rows), j = Math.floor(px / width * columns);
      const value = (spec.values[i] || [])[j];
      if (value === undefined || d3.mouse(svg.node())[1] > width) return tip.hide();
      tip.show(d3.event, box => {
        box.append("b").text(number(value));
        box.append("div").text(`row ${i + 1}, column ${j + 1}`);
      });
    }).on("mouseleave", tip.hide);
    ready();
  }
  frame.redraw();
}

// ---------------------------------------------------------------- points
// points: [{x, y, colour, describe(box)}]; legend: [{name, colour}].
function scatter(parent, spec) {
  let points = spec.points, legend = spec.legend, group = null, size = [0, 0], place = null;
  const frame = figure(parent, {...spec, draw, table: spec.table});
  const ready = zoomable(frame, () => size, t => {
    if (group) group.attr("transform", t).selectAll("circle").attr("r", 3.2 / Math.sqrt(t.k));
  });
  function draw(width) {
    const height = Math.round(Math.min(width * 0.85, 560));
    size = [width, height];
    const svg = clear(frame.svg, width, height);
    group = clipped(svg, width, height);
    const good = points.filter(p => Number.isFinite(p.x) && Number.isFinite(p.y));
    const x = d3.scaleLinear().domain(d3.extent(good, p => p.x)).range([10, width - 10]);
    const y = d3.scaleLinear().domain(d3.extent(good, p => p.y)).range([height - 10, 10]);
    svg.insert("rect", "g").attr("width", width).attr("height", height).attr("fill", "transparent");
    const circles = group.selectAll("circle").data(good).enter().append("circle").attr("class", "point")
      .attr("cx", p => x(p.x)).attr("cy", p => y(p.y)).attr("fill", p => p.colour);
    place = d3.quadtree().x(p => x(p.x)).y(p => y(p.y)).addAll(good);
    svg.on("mousemove", () => {
      const t = d3.zoomTransform(svg.node()), [px, py] = t.invert(d3.mouse(svg.node()));
      const near = place.find(px, py, 24 / t.k);
      circles.classed("near", p => p === near);
      if (near) tip.show(d3.event, near.describe); else tip.hide();
    }).on("mouseleave", () => { circles.classed("near", false); tip.hide(); });
    frame.legend.selectAll("*").remove();
    for (const entry of legend) {
      const item = frame.legend.append("button").attr("type", "button").attr("aria-pressed", true)
        .on("mouseenter", () => circles.attr("opacity", p => p.colour === entry.colour ? 1 : 0.08))
        .on("mouseleave", () => circles.attr("opacity", null));
      item.append("i").attr("class", "round").style("background", entry.colour);
      item.append("span").text(entry.name);
    }
    ready();
  }
  frame.redraw();
  return {update(nextPoints, nextLegend) { points = nextPoints; legend = nextLegend; frame.redraw(); }};
}

return {lines, heat, scatter, number, colour, palette, csvText};
})();
