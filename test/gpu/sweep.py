"""sweep.py FOLDER LIST [--target NAME] [--bin DIR]

Makes a folder like that of prepare.py from kernels that are named, not chosen: how
well the estimate ranks tiles shows where many tiles of one shape are timed. Each
line of LIST is

    linear SHAPE TYPES | TILE; TILE; ... | SIZES; SIZES; ...

with the words of `modelc-opt --kernels-build`, sizes as m:16; sums are not split. Tiles that the
schedule passes refuse are left out, with a note.
"""

import argparse
import os
import pathlib
import subprocess
import sys

import prepare

ROOT = prepare.HERE.parent.parent


class Sizes:
    """What prepare.Case asks of a step, of a kernel alone."""

    plan, new = "kernel", 1

    def __init__(self, text):
        self.sizes = {name: int(value) for name, value in (pair.split(":") for pair in text.split(","))}
        rest = ("tokens", "sequences", "context", "longest", "pages_per_sequence", "cache_rows")
        self.sizes |= dict.fromkeys(rest, 1)
        self.text = text

    def title(self):
        return self.text.replace(":", " = ")


def build_option(options, symbol, what, tile, largest):
    family, shape, types = what.split()
    return (
        f"--kernels-build=target={options.target} targets-dir={ROOT}/targets symbol={symbol} family={family} "
        f"shape={shape} types={types} tile={tile} range=min:1,max:{largest}"
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
        f"--schedule-print-cost=target={options.target} targets-dir={ROOT}/targets sizes={sizes.text}",
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
        largest = max(step.sizes["m"] for step in steps)
        for tile in (text.strip() for text in tiles.split(";")):
            symbol = f"k{len(kernels)}"
            option = build_option(options, symbol, what, tile, largest)
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
            case = prepare.Case(label, "linear")
            case.add(kernel, symbol, [name for name, *_ in kernel.tensors], sizes, step)
            text += case.text(step, estimates[step.text][symbol])
    (options.folder / "cases-sweep.cpp").write_text(prepare.cases_text(text))
    prepare.build(options, options.folder, "sweep")
    print(f"{options.folder}/suite-sweep sweep: {len(kernels)} kernels")


if __name__ == "__main__":
    main()
