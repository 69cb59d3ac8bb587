#!/usr/bin/env python3
"""Checks that folders include only folders below them. The table is the architecture."""
import pathlib
import re
import sys

# folder: what it may include besides itself
LAYERS = {
    "base": set(),
    "simd": set(),
    "dist": {"base"},
    "report": {"base"},
    "hdc": {"base", "simd"},
    "data": {"base", "simd"},
    "nn": {"base", "simd", "hdc", "dist"},
    "eval": {"base", "simd", "hdc", "dist", "nn"},
    "ssl": {"base", "hdc", "dist", "nn"},
    "train": {"base", "simd", "hdc", "dist", "data", "nn", "eval", "ssl", "report"},
    "study": {"base", "simd", "hdc", "dist", "data", "nn", "eval", "ssl", "report", "train"},
}
NO_TORCH = {"base", "simd", "hdc", "data", "report"}

root = pathlib.Path(__file__).resolve().parent.parent
errors = []
for path in sorted(root.glob("cplearn/**/*.[hc]*")):
    folder = path.relative_to(root / "cplearn").parts[0]
    if folder not in LAYERS:
        errors.append(f"{path.relative_to(root)}: folder '{folder}' has no row in scripts/check_layers.py")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.relative_to(root)}:{number}"
        include = re.match(r'#include [<"](.*)[>"]', line)
        if not include:
            continue
        name = include.group(1)
        target = re.match(r"cplearn/(\w+)/", name)
        if target and target.group(1) != folder and target.group(1) not in LAYERS[folder]:
            errors.append(f"{where}: {folder} must not include {target.group(1)}")
        if name.startswith(("cli/", "tests/", "bench/")):
            errors.append(f"{where}: the library must not include {name}")
        if folder in NO_TORCH and re.match(r"(torch|ATen|c10)/", name):
            errors.append(f"{where}: {folder} is free of torch, but includes {name}")
        if folder != "dist" and "c10d" in name:
            errors.append(f"{where}: only dist may name c10d")
print("\n".join(errors) or "check: layers point down", file=sys.stderr if errors else sys.stdout)
sys.exit(bool(errors))
