"""sweep.py FOLDER LIST [--target NAME] [--bin DIR]

Makes a folder like that of prepare.py from kernels that are named, not chosen: how
well the estimate ranks tiles shows where many tiles of one shape are timed. Each
line of LIST is

    FAMILY SHAPE TYPES | TILE; TILE; ... | SIZES; SIZES; ...

with the words of `modelc-opt --kernels-build`. Sizes of linears are as m:16 (sums are
not split), those of attention-prefill as `prefill 1x4096`, those of attention-decode
as `decode 16x4096 splits:4`: its parts are timed, not compared. Tiles that the
schedule passes refuse are left out, with a note.
"""

import argparse
import os
import pathlib
import subprocess
import sys

import prepare

ROOT = prepare.HERE.parent.parent
KINDS = {"": "linear", "decode": "part", "prefill": "attention_prefill"}


class Sizes(prepare.Step):
    """The sizes of a kernel alone: of rows, or of a decode step in parts."""

    def __init__(self, text):
        own = [word for word in text.split() if ":" in word]
        step = " ".join(word for word in text.split() if ":" not in word)
        self.kind, self.text = KINDS[step.partition(" ")[0]], text
        super().__init__(step or "decode 1x1")
        # A list may hold other families: the estimate asks for sizes of all.
        self.sizes |= {"m": 1, "splits": 1}
        for name, value in (word.split(":") for word in own):
            self.sizes[name] = int(value)

    def title(self):
        return self.text.replace(":", " = ")

    def option(self):
        return ",".join(f"{name}:{value}" for name, value in self.sizes.items())


def build_option(options, symbol, what, tile, steps):
    family, shape, types = what.split()
    largest = max(max(step.sizes["m"], step.sizes["sequences"]) for step in steps)
    longest = max(step.new for step in steps)
    end = f",longest:{longest}" if family == "attention-prefill" else ""
    return (
        f"--kernels-build=target={options.target} targets-dir={ROOT}/targets symbol={symbol} family={family} "
        f"shape={shape} types={types} tile={tile} range=min:1,max:{largest}{end}"
    )


def finished(options, builds, output):
    """Whether the schedule passes finish these kernels."""
    command = [options.bin / "modelc-opt", "-", *builds, f"--schedule-finish=targets-dir={ROOT}/targets"]
    words = [str(word) for word in [*command, "-o", output]]
    return subprocess.run(words, input="module {}", text=True, capture_output=True).returncode == 0


def seconds_of(options, schedule, sizes):
    """The estimate of each kernel of a schedule."""
    text = prepare.run(
        options.bin / "modelc-opt",
        schedule,
        f"--schedule-print-cost=target={options.target} targets-dir={ROOT}/targets sizes={sizes.option()}",
        "-o",
        os.devnull,
    )
    units, found, symbol = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}, {}, None
    for line in text.splitlines():
        words = line.replace(",", "").split()
        if line.startswith("kernel "):
            symbol = words[1]
        elif words and words[0] == "expectation:":
            found[symbol] = float(words[1]) * units[words[2]]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("--target", default="h200")
    parser.add_argument("--bin", default=ROOT / ".build/release/bin", type=pathlib.Path)
    options = parser.parse_args()
    options.emulate = None
    options.folder.mkdir(parents=True)
    builds, kernels = [], []
    for line in options.list.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        what, tiles, runs = (part.strip() for part in line.split("|"))
        steps = [Sizes(text.strip()) for text in runs.split(";")]
        for tile in (text.strip() for text in tiles.split(";")):
            symbol = f"k{len(kernels)}"
            option = build_option(options, symbol, what, tile, steps)
            if finished(options, [option], os.devnull):
                builds.append(option)
                kernels.append((symbol, f"{what.split()[1]} {tile}".replace(",", " "), steps))
            else:
                print(f"refused: {what}: {tile}", file=sys.stderr)
    schedule = options.folder / "kernels.mlir"
    if not finished(options, builds, schedule):
        prepare.die("expected kernels that finish alone to finish together")
    prepare.run(
        options.bin / "modelc-emit", schedule, f"--targets={ROOT}/targets", f"--package={options.folder}/sweep", "--binary"
    )
    package, text, estimates = prepare.Package(options.folder / "sweep"), "", {}
    for symbol, label, steps in kernels:
        kernel = package.kernels[symbol]
        for step in steps:
            if step.text not in estimates:
                estimates[step.text] = seconds_of(options, schedule, step)
            sizes = {name: step.sizes[name] for name in kernel.sizes}
            case = prepare.Case(label, step.kind)
            case.add(kernel, symbol, [name for name, *_ in kernel.tensors], sizes, step)
            text += case.text(step, estimates[step.text][symbol])
    (options.folder / "cases-sweep.cpp").write_text(prepare.cases_text(text))
    prepare.build(options, options.folder, "sweep")
    print(f"{options.folder}/suite-sweep sweep: {len(kernels)} kernels")


if __name__ == "__main__":
    main()
