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
# What the front program is made of: these, and all that they include, must do without torch.
# CMakeLists.txt has the same list.
NO_TORCH = re.compile(
    r"cplearn/((base|simd|hdc|data|report)/|.*options\.(h|cpp)|train/run_config|nn/optim/schedule|study/experiment)"
    r"|cli/[^/]*$")

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
        if folder != "dist" and "c10d" in name:
            errors.append(f"{where}: only dist may name c10d")


def path_to_torch(file, seen):
    """The includes that lead from a file to torch, or None."""
    for name in re.findall(r'^#include [<"](.*)[>"]', (root / file).read_text(), re.M):
        if re.match(r"(torch|ATen|c10)/", name):
            return [name]
        if name not in seen and (root / name).is_file():
            seen.add(name)
            further = path_to_torch(name, seen)
            if further:
                return [name, *further]
    return None


for path in sorted([*root.glob("cplearn/**/*.[hc]*"), *root.glob("cli/*.[hc]*")]):
    file = str(path.relative_to(root))
    way = path_to_torch(file, set()) if NO_TORCH.match(file) else None
    if way:
        errors.append(f"{file}: must do without torch, but includes {' -> '.join(way)}")
print("\n".join(errors) or "check: layers point down", file=sys.stderr if errors else sys.stdout)
sys.exit(bool(errors))
