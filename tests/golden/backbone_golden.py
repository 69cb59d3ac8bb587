#!/usr/bin/python3
"""Golden values for tests/nn/backbone_test.cpp: torchvision's ResNets and a plain PyTorch ViT.

  /usr/bin/python3 tests/golden/backbone_golden.py > tests/golden/backbone_golden.h

Weights and images come from a formula that the test repeats (splitmix64 of the parameter's name and
the index), so only a few outputs are stored. Everything is in double.
Needs Debian's python3-torch and python3-torchvision.
"""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision

MASK = (1 << 64) - 1


def noise(name, count):
    """Uniform in [-1, 1), 24 bits: the same numbers in numpy and in C++."""
    seed = 0xCBF29CE484222325  # FNV-1a
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) & MASK
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / 2**23 - 1


def tensor(name, shape):
    return torch.from_numpy(noise(name, math.prod(shape)).reshape(shape))


def fill(net):
    """Weight matrices as large as they should be, scales near 1, the rest near 0."""
    with torch.no_grad():
        for name, value in net.state_dict().items():
            if not value.is_floating_point():
                continue
            u = tensor(name, tuple(value.shape))
            if name.endswith("running_var") or (value.dim() == 1 and name.endswith("weight")):
                value.copy_(1 + 0.2 * u)
            elif value.dim() > 1 and name.endswith("weight"):
                value.copy_(u * math.sqrt(6 / value[0].numel()))
            else:
                value.copy_(0.1 * u)
    return net


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
        return self.proj((attn.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width, eps=1e-6), Attention(width, heads)
        self.norm2, self.mlp = nn.LayerNorm(width, eps=1e-6), Mlp(width)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchEmbed(nn.Module):
    def __init__(self, patch, width):
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class ViT(nn.Module):
    """DINO's vision_transformer.py in short, with its names."""

    def __init__(self, width, heads, image, patch):
        super().__init__()
        self.patch = patch
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, (image // patch) ** 2 + 1, width))
        self.patch_embed = PatchEmbed(patch, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(12))
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def interpolate_pos_encoding(self, x, w, h):
        npatch, n = x.shape[1] - 1, self.pos_embed.shape[1] - 1
        if npatch == n and w == h:
            return self.pos_embed
        dim, side = x.shape[-1], int(math.sqrt(n))
        w0, h0 = w // self.patch + 0.1, h // self.patch + 0.1
        patch_pos = F.interpolate(self.pos_embed[:, 1:].reshape(1, side, side, dim).permute(0, 3, 1, 2),
                                  scale_factor=(w0 / math.sqrt(n), h0 / math.sqrt(n)), mode="bicubic")
        return torch.cat((self.pos_embed[:, :1], patch_pos.permute(0, 2, 3, 1).reshape(1, -1, dim)), 1)

    def forward(self, x, last=1):
        _, _, w, h = x.shape
        x = self.patch_embed(x)
        x = torch.cat((self.cls_token.expand(len(x), -1, -1), x), 1)
        x = x + self.interpolate_pos_encoding(x, w, h)
        out = []
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i >= 12 - last:
                out.append(self.norm(x)[:, 0])
        return torch.cat(out, 1)


def resnet(name, stem, padding):
    net = getattr(torchvision.models, name)()
    if stem == "cifar":
        net.conv1, net.maxpool = nn.Conv2d(3, 64, 3, 1, padding, bias=False), nn.Identity()
    net.fc = nn.Identity()
    return net


# name, stem, stem_padding, image_size of the table, patch_size, then the images: height, width; training; blocks
CASES = [
    ("resnet18", "cifar", 1, 0, 0, 16, 16, False, 1),
    ("resnet18", "cifar", 2, 0, 0, 12, 16, True, 1),
    ("resnet18", "imagenet", 1, 0, 0, 64, 48, True, 1),
    ("resnet50", "cifar", 1, 0, 0, 16, 16, True, 1),
    ("resnet50", "imagenet", 1, 0, 0, 32, 32, False, 1),
    ("vit_tiny", "", 1, 32, 8, 32, 32, True, 1),
    ("vit_tiny", "", 1, 32, 8, 48, 40, True, 1),
    ("vit_small", "", 1, 64, 16, 64, 64, False, 4),
]


def main():
    print("#pragma once\n// Made by tests/golden/backbone_golden.py. Do not edit.\n\n#include <vector>\n")
    print("namespace cpl::golden {\n\nstruct BackboneCase {\n  const char* name;\n  const char* stem;\n"
          "  int stem_padding, image_size, patch_size, height, width;\n  bool training;\n  int blocks;\n"
          "  const char* parameter;           // the first, farthest from the loss\n"
          "  double gradient_norm;            // of that parameter\n"
          "  double output_norm;\n  std::vector<double> output;      // the first eight numbers\n};\n")
    print("inline const std::vector<BackboneCase>& backbone_cases() {\n  static const std::vector<BackboneCase> cases = {")
    for name, stem, padding, image, patch, height, width, training, blocks in CASES:
        if name.startswith("vit"):
            net = ViT(*{"vit_tiny": (192, 3), "vit_small": (384, 6)}[name], image, patch)
        else:
            net = resnet(name, stem, padding)
        net = fill(net.double()).train(training)
        x = tensor("images", (3, 3, height, width))
        y = net(x, blocks) if name.startswith("vit") else net(x)
        (y * tensor("gradient", tuple(y.shape))).sum().backward()
        parameter = "patch_embed.proj.weight" if name.startswith("vit") else "conv1.weight"
        gradient = dict(net.named_parameters())[parameter].grad
        values = ", ".join(f"{v:.17g}" for v in y.flatten()[:8].tolist())
        flag = "true" if training else "false"
        print(f'      {{"{name}", "{stem}", {padding}, {image}, {patch}, {height}, {width}, {flag}, {blocks}, '
              f'"{parameter}",\n       {gradient.norm():.17g}, {y.norm():.17g},\n       {{{values}}}}},')
    print("  };\n  return cases;\n}\n\n}  // namespace cpl::golden")


if __name__ == "__main__":
    main()
