"""The command bench: what it prints of units, of one product and of a model's convolutions."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import widthwise as ww
from widthwise import cli
from widthwise.cli import bench as bench_command
from widthwise.cli.bench_models import MODELS

ROOT = Path(__file__).parents[2]
DRIVER = ROOT / "build/tests/cuda/libcuda.so.1"
SMALL = ["--batch", "2", "--image", "32", "--repeat", "1"]


@pytest.fixture
def bench(capsys):
    def run(*arguments):
        status = cli.main(["bench", *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_bench_names_the_engine_of_each_unit(bench):
    status, out, _ = bench("mac(e5m10)", "--size", 16, "--seconds", 1e-3, "--json")
    rows = json.loads(out)
    assert status == 0 and rows[0]["engine"] in ww.engines() and len(rows) == 3
    assert all(row["rate"] > 0 for row in rows)


def of_cpu(rows):
    return [row for row in rows if row["device"] == "cpu"]


@pytest.mark.parametrize(
    "asked, unit",
    [
        (["--format", "e5m10"], "mac(e5m10)"),
        (["--format", "e4m3;overflow=satfinite"], "mac(e4m3;overflow=satfinite)"),
        (["--format", "posit8es2"], "mac(posit8es2)"),
        (["--unit", "hopper.e4m3.f32"], "hopper.e4m3.f32"),
        (["--unit", "blackwell.mxfp8"], "blackwell.mxfp8"),
    ],
)
def test_gemm_tells_what_ran_and_how_fast(bench, asked, unit):
    status, out, err = bench("gemm", *asked, "--size", 64, "--repeat", 3, "--threads", 1, "--json")
    told = json.loads(out)
    assert status == 0 and err == ""
    assert ww.Unit(told["unit"]) == ww.Unit(unit)
    assert (told["size"], told["repeat"]) == (64, 3)
    (row,) = of_cpu(told["results"])
    engine = ww.explain(unit, 64, 64, 64).takers
    assert row["engine"] == next(name for name in engine if name != "cuda")
    assert row["threads"] == 1 and 0 < row["ms"] <= row["median_ms"]
    assert row["million_products_s"] == pytest.approx(64**3 / row["ms"] / 1e3)


def test_gemm_prints_a_line_and_a_table(bench):
    status, out, _ = bench("gemm", "--format", "e5m10", "--size", 32, "--repeat", 1)
    lines = out.splitlines()
    assert status == 0 and lines[0] == "unit mac(e5m10), size 32, repeat 1"
    assert lines[2].split()[:4] == ["device", "engine", "threads", "ms"]
    assert lines[4].split()[:3] == ["cpu", "lanes", str(len(os.sched_getaffinity(0)))]


@pytest.mark.parametrize(
    "model, convolutions, products",
    # What torchvision states of each model (resnet50: 4,089,184,256 with its last layer), less its
    # linear layers.
    [("resnet50", 53, 4_089_184_256 - 2048 * 1000),
     ("resnet18", 20, 1_814_073_344 - 512 * 1000),
     ("vgg16", 13, 15_470_264_320 - 25088 * 4096 - 4096 * 4096 - 4096 * 1000)],
)  # fmt: skip
def test_the_tables_have_the_models_layers(model, convolutions, products):
    layers = MODELS[model]
    assert sum(layer.times for layer in layers) == convolutions
    assert sum(layer.times * layer.products(224) for layer in layers) == products
    assert all(layer.output(32) >= 1 and layer.image(33) >= 2 for layer in layers)


def test_conv2d_times_each_layer_and_the_whole(bench):
    status, out, _ = bench("conv2d", "--model", "resnet50", "--format", "e4m11", *SMALL, "--json")
    told = json.loads(out)
    rows = of_cpu(told["layers"])
    assert status == 0 and told["unit"] == "mac(e4m11)" and told["batch"] == 2
    assert [row["layer"] for row in rows] == [layer.name for layer in MODELS["resnet50"]]
    assert (rows[0]["input"], rows[0]["output"]) == ("3x32x32", "64x16x16")
    assert {row["engine"] for row in rows} <= set(ww.engines())
    (whole,) = of_cpu(told["totals"])
    assert whole["ms"] == pytest.approx(sum(row["count"] * row["ms"] for row in rows))
    assert whole["images_s"] == pytest.approx(2e3 / whole["ms"])
    text = bench("conv2d", "--model", "resnet18", "--unit", "mac(e5m10)", *SMALL)[1]
    assert text.startswith("unit mac(e5m10), model resnet18, batch 2, image 32, repeat 1\n\n")
    assert text.splitlines()[-3].split() == ["device", "threads", "ms", "images_s"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--size", "big"], "argument --size: 'big' is no whole number; write one, as 16"),
        (["--seconds", "x"], "argument --seconds: 'x' is no number; write one, as 0.5"),
        (["--size", "0"], "--size: more than 0 is wanted"),
        (["mac(e5"], "unit 'mac(e5', column"),
        (["--threads", "0"], "--threads = 0: 1 or more is wanted"),
        (["mac(e5m10)", "--repeat", "3"], "--repeat is of bench gemm and bench conv2d, not of"),
        (["gemm"], "--format F, which is --unit 'mac(F)', or --unit U is wanted"),
        (["gemm", "--format", "e5m10", "--unit", "mac(e5m10)"], "--unit U is wanted, not both"),
        (["gemm", "mac(e5m10)"], "bench gemm takes --format or --unit, and not 'mac(e5m10)'"),
        (["gemm", "--format", "e5mx"], "format 'e5mx', column 4"),
        (["gemm", "--format", "mxfp4"], "format = 'mxfp4': blocks, numbers with a scale"),
        (["gemm", "--format", "e5m10", "--repeat", "0"], "--repeat: more than 0 is wanted"),
        (["gemm", "--format", "e5m10", "--batch", "2"], "--batch is of bench conv2d, not of bench"),
        (["gemm", "--format", "e5m10", "--seconds", "1"], "--seconds is of bench UNIT …, not of"),
        (["conv2d", "--format", "e5m10", "--model", "resnet5"], "invalid choice: 'resnet5'"),
        (["conv2d", "--format", "e5m10", "--size", "8"], "--size is of bench gemm, not of bench"),
        (["conv2d", "--unit", "blackwell.mxfp8", *SMALL], "scale"),
    ],
)
def test_a_wrong_argument_is_one_line_and_status_2(arguments, message, bench):
    status, out, err = bench(*arguments)
    assert status == 2 and out == "" and err.count("\n") == 1 and message in err


def test_a_gpu_that_is_not_there_is_told(bench):
    if "cuda" in ww.engines():
        pytest.skip("there is a GPU")
    status, out, err = bench("gemm", "--format", "e5m10", "--device", "cuda")
    assert (status, out) == (2, "") and "--device = cuda cannot be used here: " in err


def test_a_gpu_has_a_row_of_its_own():
    """With a driver and a GPU that are this CPU."""
    if "nvcc" in ww.engines().unusable.get("cuda", ""):
        pytest.skip("nvcc was not found")
    if not DRIVER.exists():
        pytest.skip("ninja -C build tests/cuda/libcuda.so.1 has not been run")

    def ran(*arguments):
        command = [sys.executable, "-m", "widthwise", "bench", *arguments, "--json"]
        there = os.environ | {"LD_LIBRARY_PATH": str(DRIVER.parent)}
        done = subprocess.run(command, env=there, capture_output=True, check=True)
        return json.loads(done.stdout)

    here, gpu = ran("gemm", "--format", "e5m10", "--size", "16", "--repeat", "1")["results"]
    assert here["device"] == "cpu" and "cuda" not in here["engine"]
    assert gpu["device"].startswith("cuda, ") and gpu["engine"] == "cuda" and gpu["ms"] > 0
    only = ["--device", "cuda", "--batch", "1", "--image", "8", "--repeat", "1"]
    told = ran("conv2d", "--model", "resnet18", "--format", "e5m10", *only)
    assert len(told["totals"]) == 1 and len(told["layers"]) == len(MODELS["resnet18"])


def test_the_row_of_the_cpu_is_no_gpus(monkeypatch):
    monkeypatch.setattr(
        bench_command, "explain", lambda *x: SimpleNamespace(takers=["cuda", "cuda:1", "b"])
    )
    assert bench_command.Place("cpu", "cpu", 1).engine(None, 1, 1, 1) == "b"


def test_an_interrupt_ends_it_with_one_line(bench, monkeypatch):
    def interrupted(*of, **how):  # as the core is: the test of interrupts has that
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_command, "matmul", interrupted)
    assert bench("gemm", "--unit", "kulisch(e8m23)") == (130, "", "widthwise: interrupted\n")
