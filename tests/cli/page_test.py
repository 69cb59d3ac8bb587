"""The report and the live page in a browser: what a person would look at, point at and click."""
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Browser  # noqa: E402

cplearn = sys.argv[1]
hostile = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"


def check(what, condition, details=""):
    assert condition, f"FAILED: {what} {details}"
    print("ok:", what, flush=True)


def line(step, loss):
    words = {"advice": ["every image gets the same codes: lower --beta"]} if step == 40 else {}
    return json.dumps({"step": step, "epoch": step / 20, "loss": loss, "invariance": 2 * loss, "codes_used": 12.5,
                       "probe_accuracy": 0.5, "verdict": "healthy", **words}) + "\n"


def make_run(folder, beta, parts):
    """A run's files in the shape that train, eval and diagnose write."""
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f'data = "{hostile}"\nmethod = "cplearn"\ncodes = 64\nbeta = {beta}\n')
    (folder / "metrics.jsonl").write_text("".join(line(step, 4 / step + beta) for step in range(10, 110, 10)))
    if not parts:
        return folder
    (folder / "summary.json").write_text(json.dumps({"epochs": 5, "loss": 0.1, "verdict": "healthy"}))
    scores = {"linear_top1": 0.75, "knn_top1": 0.5, "ami": 0.25, "nmi": 0.375, "nmi_chance": 0.125, "codes_used": 31}
    (folder / "eval.json").write_text(json.dumps({**scores, "n_train": 9, "n_test": 4, "untrained": scores}))
    finding = {"value": 1.5, "threshold": 0.1, "verdict": "healthy", "words": hostile, "advice": ""}
    spectrum = {"centred": [8, 4, 2, 1], "uncentred": [9, 4, 2, 1], "effective_rank": 3.1, "alpha": 1}
    curve = {"width": 4, "nats": [3, 2], "standard_error": [0.1, 0.1]}
    (folder / "diagnosis.json").write_text(json.dumps({
        "verdict": "healthy", "summary": "Nothing has collapsed",
        **{name: finding for name in ("representation", "dimensional", "cluster", "intracluster")},
        "certificate": {"information": 1.5, "information_limit": 4, "loss": 2, "bound": 1, "attainable": 0.5, "words": "fine"},
        "spectra": {"representation": spectrum, "embedding": spectrum},
        "entropy": {"components": [10, 20], "representation": curve, "embedding": curve},
        "covariance": {"of": 4, "values": [[1 if i == j else -0.25 for j in range(4)] for i in range(4)]},
        "adjacency": {"of": 4, "values": [[1, 0.5], [0.5, 1]]},
        "usage": {"codes_used": 3, "perplexity": 2.5, "counts": [5, 3, 1]},
        "statistics": {"embedding": {"mean": 0.1, "std": 0.5}}, "bound": {"view_distance": 0.5, "rank": 4, "label_residual": None}}))
    places = [[math.cos(i), math.sin(i)] for i in range(6)]
    (folder / "gallery.json").write_text(json.dumps({
        "classes": [hostile, "square"],
        "map": {"tsne": places, "pca": places, "label": [0] * 3 + [1] * 3, "code": [7] * 6, "file": [hostile] * 6, "tile": list(range(6))},
        "clusters": {"largest": [{"code": 7, "images": 6, "spread": 0.5, "label": hostile, "purity": 0.5, "tiles": [0, 1, 2]}], "tightest": []},
        "sprite": {"tile": 32, "columns": 50, "data": png(1600, 32)}}))
    return folder


def png(width, height):
    """A grey picture as a data address."""
    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 0, 0, 0, 0])
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress((b"\0" + b"\x80" * width) * height)) + chunk(b"IEND", b"")
    import base64
    return "data:image/png;base64," + base64.b64encode(data).decode()


def report(*runs):
    out = subprocess.run([cplearn, "report", *map(str, runs), "--out", "page.html", "--json"],
                         check=True, capture_output=True, text=True).stdout
    return pathlib.Path(json.loads(out)["file"]).resolve().as_uri()


def saved(browser, selector):
    """The text that a button would have saved."""
    browser.js("window.madeBlob = null; const make = URL.createObjectURL; URL.createObjectURL = b => { b.text().then(t => window.madeBlob = t); return make(b); };")
    browser.click(selector)
    browser.wait("window.madeBlob", "a saved file")
    return browser.js("return window.madeBlob")


def tip(browser):
    return browser.js("const t = document.querySelector('.tip.shown'); return t ? t.innerText : ''")


def middle(browser, selector):
    box = browser.place(selector)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_one(browser, run):
    browser.size(1280, 900)
    browser.go(report(run))
    names = browser.js("return Array.from(document.querySelectorAll('.plot'), p => p.dataset.name)")
    expected = ["loss", "probe", "codes", "spectrum", "entropy", "usage", "covariance", "adjacency", "map"]
    check("every plot is there", set(expected) <= set(names), names)
    empty = browser.js("return Array.from(document.querySelectorAll('.plot')).filter(p => !p.querySelector('svg path, svg image, svg circle')).map(p => p.dataset.name)")
    check("and none is empty", empty == [], empty)
    text = browser.js("return document.body.innerText")
    for words in ("Nothing has collapsed", "Certificate", "NMI by chance", "0.125", "75.0 %", "cplearn train --", "lower --beta"):
        check(f"the page says '{words}'", words in text)
    check("nothing in a file became markup", browser.js("return window.hacked === undefined && !document.querySelector('main img, main script')"))
    check("but is shown as text", hostile in text)
    check("nothing is fetched", browser.js("return performance.getEntriesByType('resource').filter(e => !e.name.startsWith('data:')).length") == 0)

    box = browser.place("[data-name=loss] .drawing")
    browser.pointer((box["x"] + box["width"] - 12, box["y"] + box["height"] / 2))
    check("pointing at a curve shows its value", "epoch 5" in tip(browser) and "loss: 0.54" in tip(browser), tip(browser))
    ticks = "return Array.from(document.querySelectorAll('[data-name=loss] .tick text'), t => t.textContent).join()"
    before = browser.js(ticks)
    box = browser.place("[data-name=loss] .drawing")
    y = box["y"] + box["height"] / 2
    browser.pointer((box["x"] + box["width"] * 0.5, y), "down", (box["x"] + box["width"] * 0.7, y), "up")
    check("dragging zooms", browser.js(ticks) != before)
    browser.click("[data-name=loss] .tools button:last-child")
    check("and can be undone", browser.js(ticks) == before)
    browser.click("[data-name=loss] .legend button")
    check("the legend hides a curve", browser.js("return document.querySelectorAll('[data-name=loss] .curve').length") == 1)

    box = browser.place("[data-name=covariance] image")
    browser.pointer((box["x"] + 0.35 * box["width"], box["y"] + 0.6 * box["height"]))
    check("pointing at a heat map shows its value", "−0.25" in tip(browser) and "row 3, column 2" in tip(browser), tip(browser))
    browser.pointer(middle(browser, "[data-name=map] circle"))
    check("pointing at the map shows the image", "code 7" in tip(browser) and browser.js("return getComputedStyle(document.querySelector('.tip .tile')).backgroundImage.startsWith('url(\"data:image/png')"), tip(browser))
    browser.click("[data-choice=pca]")
    browser.click("[data-choice=code]")
    check("the map can be drawn differently", browser.js("return document.querySelectorAll('[data-name=map] circle').length") == 6)
    browser.click("[data-name=map] .tools button:nth-child(3)")
    browser.wait("/scale\\((?!1\\))/.test(document.querySelector('[data-name=map] g g').getAttribute('transform'))", "the map to grow")
    check("the map zooms", True)

    csv = saved(browser, "[data-name=spectrum] .tools button:nth-child(2)")
    check("numbers can be saved", csv.splitlines()[1] == "1,8,9,8,9", csv)
    svg = saved(browser, "[data-name=spectrum] .tools button:nth-child(1)")
    check("drawings can be saved", browser.js("return new DOMParser().parseFromString(arguments[0], 'image/svg+xml').querySelectorAll('path[stroke^=rgb]').length", svg) >= 4, svg[:300])

    dark = "return d3.lab(getComputedStyle(document.body).backgroundColor).l < 50"
    browser.prefer("dark")
    check("dark where the system is", browser.js(dark))
    browser.click("#theme")
    check("light when asked for", not browser.js(dark))
    browser.click("#theme")
    check("and dark again", browser.js(dark))
    browser.prefer("light")
    browser.size(390, 800)
    browser.go(report(run))
    wide = browser.js("return document.documentElement.scrollWidth")
    check("fits a phone", wide <= 390, wide)
    check("prints", browser.devtools("Page.printToPDF")["data"].startswith("JVBER"))
    check("nothing to complain of", browser.errors() == [])


def test_several(browser, runs, bare):
    browser.size(1280, 900)
    browser.go(report(*runs, bare))
    legend = browser.js("return Array.from(document.querySelectorAll('[data-name=loss] .legend button'), b => b.innerText)")
    check("several runs share a plot", legend == [str(r) for r in (*runs, bare)], legend)
    names = browser.js("return Array.from(document.querySelectorAll('.plot'), p => p.dataset.name)")
    check("and have maps side by side", {"map-1", "map-2", "covariance-1", "covariance-2"} <= set(names), names)
    rows = browser.js("return Array.from(document.querySelectorAll('tr.differs'), r => r.innerText)")
    check("settings that differ are shown", len(rows) == 1 and rows[0].startswith("beta"), rows)
    words = browser.js("return Array.from(document.querySelectorAll('.missing'), p => p.innerText).join('\\n')")
    check("what is missing says what to do", f"cplearn diagnose {bare}" in words and f"cplearn eval {bare}" in words, words)
    check("nothing to complain of", browser.errors() == [])


def test_live(browser, folder):
    run = make_run(folder / "growing", 0.5, False)
    make_run(folder / "second", 0.25, True)
    os.utime(folder / "second" / "metrics.jsonl", (1, 1))
    ui = subprocess.Popen([cplearn, "ui", str(folder), "--port", "0", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        answer = ""
        while not answer.rstrip().endswith("}"):
            answer += ui.stdout.readline()
        browser.go(json.loads(answer)["address"])
        browser.wait("document.querySelector('[data-name=loss] .curve')", "the curves of the newest run")
        path = "document.querySelector('[data-name=loss] .curve').getAttribute('d')"
        before = browser.js("return " + path)
        browser.js("document.querySelector('[data-name=loss]').dataset.same = 'yes'")
        nonsense = b"\xff\xfe\n" + b"x" * (5 << 18) + b"\n"  # not UTF-8; longer than an answer
        with open(run / "metrics.jsonl", "ab") as file:
            file.write(nonsense + (line(120, 0.125) + '{"step":130,"lo').encode())
        browser.wait(f"{path} !== {json.dumps(before)}", "the curve to grow")
        check("curves grow", browser.js("return document.querySelector('[data-name=loss]').dataset.same") == "yes")
        asked = "performance.getEntriesByType('resource').filter(e => e.name.includes('from=%d')).length"
        size = (run / "metrics.jsonl").read_bytes().rfind(b"\n") + 1
        browser.wait(f"{asked % size} > 0", "the page to ask from the end of the file")
        start = (run / "metrics.jsonl").read_bytes().find(b"\xff\xfe\n")
        check("past what is no line, whose bytes are asked for once", browser.js(f"return {asked % start}") <= 1)
        box = browser.place("[data-name=loss] .drawing")
        browser.pointer((box["x"] + box["width"] - 12, box["y"] + box["height"] / 2))
        check("and show the new value", "epoch 6" in tip(browser) and "0.125" in tip(browser), tip(browser))
        check("the monitor's words are there", "lower --beta" in browser.js("return document.querySelector('.monitor').innerText"))
        browser.click(".chooser label:nth-child(2) input")
        browser.wait("document.querySelectorAll('[data-name=loss] .legend button').length === 2", "the second run")
        check("ticking a run compares", True)
        (run / "summary.json").write_text('{"verdict": "collapsed: cluster"}')
        browser.wait("document.querySelector('.pill.collapsed')", "the verdict")
        check("files that come later are shown", True)
        check("nothing to complain of", browser.errors() == [])
        ui.send_signal(signal.SIGINT)
        check("Ctrl-C ends it cleanly", ui.wait(timeout=20) == 0)
        browser.wait("document.querySelector('.pulse.gone')", "the page to notice")
        check("and the page says so", True)
    finally:
        ui.kill()
        ui.wait()


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    one = make_run(pathlib.Path("one"), 0.5, True)
    two = make_run(pathlib.Path("two"), 0.25, True)
    bare = make_run(pathlib.Path("bare"), 0.5, False)
    with Browser() as browser:
        test_one(browser, one)
        test_several(browser, [one, two], bare)
        test_live(browser, pathlib.Path("runs"))
print("all passed")
