#!/usr/bin/python3
"""Writes augment_golden.json: what torchvision 0.14 on PIL does to two small pictures.

Needs Debian's python3-torchvision (and the Pillow and NumPy that come with it). The pictures and the
results are hexadecimal RGB bytes, row by row; tests/data compares them byte by byte.
"""
import json
import pathlib

import numpy as np
import torchvision
import torchvision.transforms.functional as F
from PIL import Image, ImageFilter
from PIL import __version__ as pillow
from torchvision.transforms import InterpolationMode


def pictures():
    random = np.random.default_rng(7)
    noise = random.integers(0, 256, (15, 20, 3), dtype=np.uint8)
    y, x = np.mgrid[0:24, 0:19]
    smooth = np.stack([x * 13 % 256, y * 10 % 256, (x * y) % 256], -1).astype(np.uint8)
    return {"noise": noise, "smooth": smooth}


def case(name, picture, operation, result, *arguments):
    result = np.asarray(result)
    return {"name": name, "picture": picture, "operation": operation, "arguments": arguments,
            "width": result.shape[1], "height": result.shape[0], "bytes": result.tobytes().hex()}


def cases(key, array):
    image = Image.fromarray(array)
    for factor in (0.0, 0.63, 1.0, 1.4, 1.8):
        yield case(f"brightness {factor}", key, "brightness", F.adjust_brightness(image, factor), factor)
        yield case(f"contrast {factor}", key, "contrast", F.adjust_contrast(image, factor), factor)
        yield case(f"saturation {factor}", key, "saturation", F.adjust_saturation(image, factor), factor)
    for turn in (-0.5, -0.1, 0.0, 0.03, 0.2, 0.5):
        yield case(f"hue {turn}", key, "hue", F.adjust_hue(image, turn), turn)
    yield case("gray", key, "gray", F.rgb_to_grayscale(image, 3))
    yield case("solarise", key, "solarise", F.solarize(image, 128), 128)
    yield case("flip", key, "flip", F.hflip(image))
    yield case("pad", key, "pad", F.pad(image, 4, padding_mode="reflect"), 4)
    for sigma in (0.1, 0.7, 1.3, 2.0):  # the filter that DINO and solo-learn use
        yield case(f"blur {sigma}", key, "blur", image.filter(ImageFilter.GaussianBlur(sigma)), sigma)
    modes = {"bilinear": InterpolationMode.BILINEAR, "bicubic": InterpolationMode.BICUBIC}
    for filter, mode in modes.items():
        for left, top, width, height, size in ((2, 3, 11, 9, 16), (0, 0, 19, 15, 8), (5, 1, 12, 12, 12),
                                               (1, 1, 1, 2, 6), (3, 0, 16, 7, 16)):
            yield case(f"{filter} {width}x{height} to {size}", key, filter,
                       F.resized_crop(image, top, left, height, width, [size, size], mode),
                       left, top, width, height, size)
    yield case("centre crop", key, "centre", F.center_crop(image, [10, 10]), 10)
    yield case("shorter side", key, "shorter", F.resize(image, 11, InterpolationMode.BICUBIC), 11)


def main():
    arrays = pictures()
    golden = {
        "made_with": {"torchvision": torchvision.__version__, "pillow": pillow},
        "pictures": {key: {"width": a.shape[1], "height": a.shape[0], "bytes": a.tobytes().hex()}
                     for key, a in arrays.items()},
        "cases": [c for key, a in arrays.items() for c in cases(key, a)],
    }
    out = pathlib.Path(__file__).with_name("augment_golden.json")
    out.write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
