"""The inputs that mutate.py breaks: where their texts come from, how they are used."""

import shutil
import subprocess
import sys
from dataclasses import dataclass, field

WORKLOAD = ["--isl=32", "--osl=32", "--batch=2"]
# How a model is used; the first is the one of all enumerated mutants.
MODEL_USES = [["--target=mi355x", *WORKLOAD, "-o", "out"],
              ["--target=mi355x", *WORKLOAD, "--tp=2", "--json"],
              ["--target=h200", "--isl=100", "--osl=7", "--batch=3", "--weights=fp8", "--kv=fp8", "-o", "out"],
              ["--target=b200", "--isl=5", "--osl=1", "--batch=1", "--json"],
              ["--target=b200", *WORKLOAD, "--weights=nvfp4", "--emit=source"],
              ["--target=mi300x", *WORKLOAD, "--weights=fp8_block", "--csv"],
              ["--emit=model"]]


@dataclass
class Kind:
    """One kind of input: its file, the texts that are broken, and the commands that read it."""

    name: str
    seeds: list
    commands: list
    beside: list = field(default_factory=list)  # files that stand in its folder


def made(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def models(root, scratch):
    """What describes a model, in each format."""
    seeds, inputs = root / "test/Driver/Inputs/seeds", scratch / "inputs"
    tiny = root / "examples/tiny-llama.toml"

    def uses(name):
        return [["modelc", name, *use] for use in MODEL_USES]

    graphs = [made("modelc-opt", tiny)]
    graphs += [made("modelc", seeds / f"{name}.json", "--emit=model") for name in ("nvfp4", "fp8-block")]
    (inputs / "config.json").write_text((root / "test/Golden/tiny-llama/config.json").read_text())
    yield "config", Kind("config.json", [(inputs / "config.json").read_text(), (seeds / "nvfp4.json").read_text(),
                                         (seeds / "fp8-block.json").read_text()], uses("config.json"))
    yield "sidecar", Kind("hf_quant_config.json", [(seeds / "sidecar.json").read_text()],
                          [["modelc", "config.json", "--target=b200", *WORKLOAD, "-o", "out"],
                           ["modelc", "config.json", "--target=h200", *WORKLOAD, "--weights=fp8"]],
                          [inputs / "config.json"])
    yield "short", Kind("short.toml", [(root / f"examples/{name}.toml").read_text()
                                       for name in ("llama-3.1-8b", "llama-2-70b")], uses("short.toml"))
    yield "graph", Kind("graph.toml", [tiny.read_text()], uses("graph.toml") + [["modelc", "import", "graph.toml"]])
    yield "mlir", Kind("graph.mlir", graphs, uses("graph.mlir") +
                       [["modelc-opt", "graph.mlir"], ["modelc", "import", "graph.mlir"]])


def machines(root, scratch):
    """What describes a machine, and final schedules."""
    tiny = scratch / "inputs/model.toml"
    shutil.copy(root / "examples/tiny-llama.toml", tiny)
    toy = root / "test/targets/toy.toml"
    use = ["modelc", "model.toml", *WORKLOAD, "--targets-dir=../targets"]
    products = [(root / f"targets/{name}.toml").read_text() for name in ("amd/mi355x", "nvidia/h200", "nvidia/b300")]
    yield "target", Kind("toy.toml", [toy.read_text(), *products],
                         [[*use, "--target=./toy.toml", "-o", "out"], [*use, "--target=./toy.toml", "--json"],
                          ["modelc", "targets", "./toy.toml", "--targets-dir=../targets"]], [tiny])
    yield "set", Kind("sets.txt", [(root / "test/Driver/Inputs/seeds/sets.txt").read_text()],
                      [[*use, "--target=toy", "--targets-dir=.", "--json"]], [tiny, toy])
    schedules = [(root / f"test/Emit/gemm-{name}.mlir").read_text() for name in ("cdna4", "hopper", "blackwell")]
    emit = ["modelc-emit", "final.mlir", "--targets=../targets"]
    yield "schedule", Kind("final.mlir", schedules, [[*emit, "-o", "out"], [*emit, "--package=out"],
                                                     ["modelc-opt", "final.mlir"]])


def sources(root, program):
    """What weights hold, as the host library reads it; `program` is EndToEnd/Inputs/prepareLines.cpp."""
    yield "source", Kind("sources.txt", [(root / "test/Driver/Inputs/seeds/sources.txt").read_text()],
                         [[program, "sources.txt"]])


def packages(root, scratch):
    """What is read of a package again, and tables of measured kernels."""
    package = scratch / "package"
    made("modelc", scratch / "inputs/model.toml", "--target=b200", "--weights=nvfp4", *WORKLOAD, "-o", package)
    texts = {name: (package / name).read_text() for name in ("compile.json", "manifest.json", "schedule.mlir")}
    explain = [["modelc", "explain", ".", "norm"], ["modelc", "explain", ".", "tpot"],
               ["modelc", "explain", ".", "lm_head", "--phase=prefill"], ["modelc", "explain", "."]]
    for kind, name in (("package", "compile.json"), ("manifest", "manifest.json"), ("plan", "schedule.mlir")):
        yield kind, Kind(name, [texts[name]], explain, [package / other for other in texts if other != name])
    loader = [sys.executable, "-B", root / "test/Driver/Inputs/load_package.py", root / "targets/host", "."]
    yield "loader", Kind("manifest.json", [texts["manifest.json"]], [loader])
    tables = [(root / f"test/Driver/Inputs/seeds/{name}.csv").read_text()
              for name in ("measured", "attention", "collectives")]
    yield "table", Kind("measured.csv", tables, [["modelc-bench", "accuracy", "measured.csv"]])


def all_kinds(root, scratch, program):
    (scratch / "inputs").mkdir(parents=True)
    (scratch / "targets").symlink_to(root / "targets")
    kinds = {name: kind for group in (models, machines, packages) for name, kind in group(root, scratch)}
    return kinds | dict(sources(root, program) if program else [])
