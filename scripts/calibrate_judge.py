#!/usr/bin/env python3
"""What the judge of collapse is worth, and which label-free measures follow accuracy (docs/judge.md).

  cplearn reproduce judge --budget cpu --data-dir DIR --out OUT
  scripts/calibrate_judge.py build/release/cplearn OUT/judge

A run is broken if its encoder is worse than the same network untrained, by the linear probe or by nearest
neighbours, by more than MARGIN. The judge's limits come from the first data set (--first) alone; the others are the test.
Needs nothing but Python.
"""
import argparse
import json
import pathlib
import subprocess

MARGIN = 0.01


def run_json(*command):
    # 3: collapsed, which is a result
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def cached(path, make, cplearn):
    """Kept until the program is built anew."""
    if not path.exists() or path.stat().st_mtime < pathlib.Path(cplearn + "-engine").stat().st_mtime:
        path.write_text(json.dumps(make()))
    return json.loads(path.read_text())


def load(cplearn, folder):
    """Every finished run with its scores, its diagnosis, and the scores of the untrained network."""
    runs, untrained = [], {}
    for file in sorted(pathlib.Path(folder).glob("*/cell.json")):
        cell = json.loads(file.read_text())
        data = cell["axes"]["data"]
        if data not in untrained:
            untrained[data] = cached(file.parent.parent / f"untrained-{data}.json", lambda: run_json(
                cplearn, "eval", str(file.parent), "--test", cell["test"], "--baselines", "--json", "--quiet"), cplearn)["untrained"]
        found = cached(file.parent / "signs.json", lambda: {
            key: value for key, value in run_json(
                cplearn, "diagnose", str(file.parent), "--images", "1000", "--no-entropy", "--no-maps", "--out",
                str(file.parent / "diagnosed"), "--json", "--quiet").items()
            if key in ("vital_signs", "vital_signs_untrained", "measures", "verdict", "summary")}, cplearn)
        found.update(name=cell["cell"], data=data, setting=cell["axes"]["setting"], numbers=cell["numbers"],
                     untrained=untrained[data])
        runs.append(found)
    return runs


def lead(run, score):
    return run["numbers"][score] - run["untrained"][score]


def broken(run):
    worst = min(lead(run, "linear_top1"), lead(run, "knn_top1"))
    return True if worst < -MARGIN else False if worst >= 0 else None  # None: too near to call


def ratio(run, name):
    now, before = run["vital_signs"].get(name), run["vital_signs_untrained"].get(name)
    return now / before if now is not None and before else None


def statistics(run):
    now = run["vital_signs"]
    share = lambda value: value / now["embedding_width"] if value is not None else None
    return {"rank of z / untrained": ratio(run, "rank"), "rank of z": now["rank"],
            "rank of h": now["embedding_rank"], "rank of h / width": share(now["embedding_rank"]),
            "own view found / untrained": ratio(run, "found"), "deviation of z": now["deviation"],
            "deviation of h": now["embedding_deviation"]}


def auc(bad, good):
    """The chance that a broken run has the lower value."""
    pairs = [(b < g) + 0.5 * (b == g) for b in bad for g in good]
    return sum(pairs) / len(pairs) if pairs else float("nan")


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            result[order[k]] = (i + j) / 2
        i = j + 1
    return result


def spearman(x, y):
    a, b = ranks(x), ranks(y)
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    cov = sum((p - ma) * (q - mb) for p, q in zip(a, b))
    spread = (sum((p - ma) ** 2 for p in a) * sum((q - mb) ** 2 for q in b)) ** 0.5
    return cov / spread if spread > 0 else 0.0


def known(value):
    return "-" if value is None else value


def table(header, rows):
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row) + " |")
    print()


def roc_table(runs, sets):
    rows = []
    for name in statistics(runs[0]):
        row = [name]
        for data in sets:
            values = {True: [], False: []}
            for run in runs:
                value = statistics(run)[name]
                if run["data"] == data and broken(run) is not None and value is not None:
                    values[broken(run)].append(value)
            row.append(auc(values[True], values[False]))
        rows.append(row)
    table(["area under the ROC curve"] + sets, rows)


def roc_figure(runs, sets, path, limits=(0.75, 1.0)):
    """How many broken runs are found (upwards) at how many false alarms (to the right), over all limits of the rank."""
    side, colours = 320, ["#2f5f93", "#ab3128", "#2b7a4b"]
    at = lambda x, y: (60 + side * x, 20 + side * (1 - y))
    text = lambda x, y, words, more="": f'<text x="{x:.0f}" y="{y:.0f}" {more}>{words}</text>'
    shapes = [f'<rect x="60" y="20" width="{side}" height="{side}" fill="none" stroke="#888"/>',
              f'<line x1="60" y1="{20 + side}" x2="{60 + side}" y2="20" stroke="#bbb" stroke-dasharray="4"/>',
              text(60 + side / 2, side + 56, "fine runs called broken", 'text-anchor="middle"'),
              text(18, 20 + side / 2, "broken runs found", f'text-anchor="middle" transform="rotate(-90 18 {20 + side / 2})"')]
    for tick in (0, 0.5, 1):
        shapes += [text(60 + side * tick, side + 37, tick, 'text-anchor="middle"'), text(54, 24 + side * (1 - tick), tick, 'text-anchor="end"')]
    for colour, data in zip(colours, sets):
        sure = [(ratio(r, "rank"), broken(r)) for r in runs if r["data"] == data and broken(r) is not None]
        bad, good = [x for x, b in sure if b], [x for x, b in sure if not b]
        point = lambda limit: at(sum(x < limit for x in good) / len(good), sum(x < limit for x in bad) / len(bad))
        path_points = [point(limit) for limit in sorted({x for x, _ in sure}) + [float("inf")]]
        shapes.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="' +
                      " ".join(f"{x:.1f},{y:.1f}" for x, y in path_points) + '"/>')
        for limit in limits:
            x, y = point(limit)
            shapes += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>']
        y = 20 + side - 60 + 20 * sets.index(data)
        shapes.append(text(60 + side - 12, y, f"{data}: area {auc(bad, good):.3f}", f'text-anchor="end" fill="{colour}"'))
    shapes.append(text(60 + side - 12, 20 + side - 12, "dots: the judge's two limits", 'text-anchor="end" fill="#555"'))
    pathlib.Path(path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side + 90}" height="{side + 70}" font-family="sans-serif" font-size="13">\n'
        '<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(shapes) + "\n</svg>\n")


def verdict_table(runs, sets):
    rows = []
    for data in sets:
        here = [r for r in runs if r["data"] == data]
        kinds = {"collapsed: dimensional (and others)": lambda r: r["verdict"] == "collapsed" and "dimensional" in r["summary"],
                 "collapsed in codes alone": lambda r: r["verdict"] == "collapsed" and "dimensional" not in r["summary"],
                 "doubtful": lambda r: r["verdict"] == "warning",
                 "healthy": lambda r: r["verdict"] == "healthy"}
        for kind, is_kind in kinds.items():
            named = [broken(r) for r in here if is_kind(r)]
            rows.append([data, kind, len(named), named.count(True), named.count(False), named.count(None)])
    table(["images", "the judge says", "runs", "broken", "fine", "too near to call"], rows)


def spearman_table(runs, sets):
    measures = {f"{what}: {name}": (what, name) for what in ("representation", "embedding")
                for name in runs[0]["measures"]["representation"]}
    rows = []
    for label, (what, name) in measures.items():
        row = [label]
        for data in sets:
            known = [r for r in runs if r["data"] == data and r["measures"][what].get(name) is not None]
            values = [r["measures"][what][name] for r in known]
            row += [spearman(values, [r["numbers"][score] for r in known]) for score in ("linear_top1", "knn_top1")]
        rows.append(row)
    table(["measure"] + [f"{d}: {s}" for d in sets for s in ("linear", "kNN")], rows)


def loss_table(runs, sets):
    rows = []
    families = sorted({r["setting"].split("-")[0] for r in runs})
    for family in families:
        row = [family]
        for data in sets:
            here = [r for r in runs if r["data"] == data and r["setting"].split("-")[0] == family]
            losses = [r["numbers"]["loss"] for r in here]
            row.append(len(here))
            row.append(spearman(losses, [r["numbers"]["linear_top1"] for r in here]) if len(here) > 3 else "-")
        rows.append(row)
    table(["own loss of"] + [x for d in sets for x in (f"{d}: runs", "linear")], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cplearn")
    parser.add_argument("runs")
    parser.add_argument("--first", default="cifar10", help="the data set that the limits come from")
    parser.add_argument("--list", action="store_true", help="also a line for every run")
    parser.add_argument("--figure", help="draw the ROC curves of the rank as SVG")
    options = parser.parse_args()
    runs = load(options.cplearn, options.runs)
    sets = sorted({r["data"] for r in runs}, key=lambda d: (d != options.first, d))
    print(f"{len(runs)} runs; the limits come from {options.first} alone\n")
    roc_table(runs, sets)
    if options.figure:
        roc_figure(runs, sets, options.figure)
    verdict_table(runs, sets)
    spearman_table(runs, sets)
    loss_table(runs, sets)
    if options.list:
        table(["run", "linear", "kNN", "rank ratio", "information", "used", "verdict", "broken"], [
            [r["name"], lead(r, "linear_top1"), lead(r, "knn_top1"), ratio(r, "rank"),
             known(r["vital_signs"]["information"]), known(r["vital_signs"]["used"]), r["summary"],
             {True: "yes", False: "no", None: "?"}[broken(r)]] for r in sorted(runs, key=lambda r: lead(r, "linear_top1"))])


if __name__ == "__main__":
    main()
