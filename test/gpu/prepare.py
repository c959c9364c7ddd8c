"""prepare.py FOLDER [--model FILE] [--target NAME] [--weights TYPE,...] [--steps TEXT] ...

Makes a folder that checks and times the kernels of a model on a GPU: for each type
of weights a package with binaries, the host program of the suite with its cases,
and `run`, which needs nothing but the GPU, its driver and, to compare with,
cuBLASLt and PyTorch. The cases are the steps of the package's own plans at given
sizes, launched by its own host library; their estimates are those of its own
schedules.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = 64
TYPES = {
    "bf16": ("MC_BF16", 2),
    "f32": ("MC_F32", 4),
    "i32": ("MC_I32", 4),
    "f8E4M3FN": ("MC_F8E4M3FN", 1),
}
# Each names a plan, its sequences, and the tokens of each: past ones of a decode
# step, new ones of a prefill step.
STEPS = (
    "decode 1x4096, decode 16x4096, decode 64x4096, decode 256x4096, decode 16x32768, "
    "prefill 1x1024, prefill 1x4096, prefill 1x8192, prefill 4x2048"
)


def die(message):
    sys.exit(f"prepare.py: {message}")


def run(*command, **options):
    words = [str(word) for word in command]
    done = subprocess.run(words, text=True, capture_output=True, **options)
    if done.returncode:
        die(f"exit code {done.returncode}: {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Step:
    """A plan at the sizes of one step."""

    def __init__(self, text):
        match = re.fullmatch(r"\s*(decode|prefill) (\d+)x(\d+)\s*", text)
        if not match:
            die(f"expected steps as in 'decode 16x4096', got '{text.strip()}'")
        self.plan, sequences, length = match[1], int(match[2]), int(match[3])
        self.new = length if self.plan == "prefill" else 1
        pages = -(-length // PAGE)
        self.sizes = {
            "tokens": sequences * self.new,
            "sequences": sequences,
            "longest": self.new,
            "context": length,
            "pages_per_sequence": pages,
            "cache_rows": pages * PAGE * sequences,
        }

    def evaluate(self, text, derived={}):
        """The value of an expression of the manifest over the sizes of the step and
        those that its plan derives from them."""
        text = text.replace("&&", " and ").replace("||", " or ").replace("/", "//")
        functions = {
            "minimum": min,
            "maximum": max,
            "ceilDiv": lambda a, b: -(-a // b),
            "floorDiv": lambda a, b: a // b,
            "select": lambda condition, yes, no: yes if condition else no,
        }
        return int(eval(text, {"__builtins__": {}}, {**functions, **self.sizes, **derived}))

    def title(self):
        sizes = self.sizes
        if self.plan == "decode":
            return f"decode: {sizes['sequences']} after {sizes['context']} tokens"
        return f"prefill: {sizes['sequences']} of {self.new} tokens"


class Kernel:
    """Arguments and guard of a kernel, in the order of calls."""

    def __init__(self, record, signature, names):
        self.guard, self.op = record["guard"], record["op"]
        access = {argument["name"]: argument.get("access") for argument in record["arguments"]}
        boxed = {a["of"] for a in record["arguments"] if a["kind"] == "tensor_map"}
        self.tensors, self.sizes = [], []
        kinds = re.findall(r"%\w+: (index|!schedule\.buffer<[^>]*>)", signature)
        for name, kind in zip(re.findall(r'"(\w+)"', names), kinds):
            if kind == "index":
                self.sizes.append(name)
                continue
            *shape, element = kind[len("!schedule.buffer<") : -1].split("x")
            writes = name not in boxed and access.get(name) != "read"
            self.tensors.append((name, shape, element, writes))

    def serves(self, sizes):
        def lies(size, r):
            return r["minimum"] <= size <= r["maximum"] and size % r["multiple"] == 0

        return all(any(lies(sizes[g["size"]], r) for r in g["ranges"]) for g in self.guard)


class Package:
    def __init__(self, folder):
        self.manifest = json.loads((folder / "manifest.json").read_text())
        text = (folder / "schedule.mlir").read_text()
        found = re.findall(r"schedule\.kernel @(\w+)\((.*?)\) guard.*?arg_names = \[(.*?)\]", text)
        signatures = {symbol: words for symbol, *words in found}
        self.kernels = {
            record["symbol"]: Kernel(record, *signatures[record["symbol"]])
            for record in self.manifest["kernels"]
        }
        self.plans = {plan["name"]: plan for plan in self.manifest["plans"]}

    def launches(self, step):
        """(label, kernel, tensors by name, sizes) of what a step runs, once."""
        plan, derived = self.plans[step.plan], {}
        for size in plan["derived"]:
            derived[size["name"]] = step.evaluate(size["value"], derived)

        def walk(steps):
            for one in steps:
                if "if" in one and not step.evaluate(one["if"], derived):
                    continue
                if "steps" in one:
                    yield from walk(one["steps"])
                elif "kernels" in one:
                    yield one

        for one in walk(plan["steps"]):
            for symbol in one["kernels"]:
                kernel = self.kernels[symbol]
                names = one["arguments"]
                count = len(kernel.tensors)
                values = [step.evaluate(text, derived) for text in names[count:]]
                sizes = dict(zip(kernel.sizes, values))
                if kernel.serves(sizes):
                    yield one["label"], symbol, names[:count], sizes
                    break


def family(op):
    """What a kernel computes, by the name of its op."""
    for name in ("attention_prefill", "attention_decode", "attention_combine", "rope_append"):
        if op.startswith(name):
            return name
    return op.split("_")[0]


def window(op):
    """The keys that a query of an attention kernel sees, its own with them; 0: all."""
    match = re.search(r"^attention_.*_w(\d+)", op)
    return int(match[1]) if match else 0


def extents(name, shape, sizes, step):
    """The shape of a tensor; open extents follow from its role."""
    rows = {
        "starts": [step.sizes["sequences"] + 1],
        "contexts": [step.sizes["sequences"]],
        "pages": [step.sizes["sequences"], step.sizes["pages_per_sequence"]],
        "k_cache": [step.sizes["cache_rows"]],
        "v_cache": [step.sizes["cache_rows"]],
        "rope": [step.sizes["context"]],
        "table": [step.sizes["tokens"]],
        "part": [sizes.get("sequences", 0) * sizes.get("splits", 0)],
        "stat": [sizes.get("sequences", 0) * sizes.get("splits", 0)],
    }
    rows = rows.get(name, [next(iter(sizes.values()))])
    return [int(extent) if extent != "?" else rows[i] for i, extent in enumerate(shape)]


def least_bytes(op, name, shape, element, step, sizes):
    """Bytes of a tensor that a case must move."""
    rows, kind = shape[0], family(op)
    if name in ("k_cache", "v_cache"):
        seen = window(op) + step.new - 1 if window(op) else step.sizes["context"]
        tokens = step.sizes["sequences"] * min(seen, step.sizes["context"])
        rows = sizes["tokens"] if kind in ("append", "rope_append") else tokens
    elif name == "table":
        rows = sizes["m"]
    elif name == "rope":
        rows = min(rows, sizes["tokens"])
    bytes_of_row = TYPES[element][1]
    for extent in shape[1:]:
        bytes_of_row *= extent
    return rows * bytes_of_row


def flops(kind, arguments, step, window):
    """Operations of the matrix unit that a case needs."""
    shapes = {name: shape for name, shape, *_ in arguments}
    if kind == "linear":
        rows, inputs = shapes["a"]
        return 2 * rows * inputs * shapes["w"][0]
    if kind not in ("attention_prefill", "attention_decode"):
        return 0
    heads, width = shapes["q"][1:]
    context, new = step.sizes["context"], step.new
    seen = sum(min(keys, window or keys) for keys in range(context - new + 1, context + 1))
    return 4 * heads * width * seen * step.sizes["sequences"]


class Case:
    """One op of a step: a kernel and those that finish its work."""

    def __init__(self, label, kind):
        self.label, self.kind = label, kind
        self.symbols, self.arguments, self.calls = [], [], []
        self.places, self.written = {}, set()
        self.reads = self.writes = self.window = 0

    def add(self, kernel, symbol, names, sizes, step):
        numbers = []
        self.window = self.window or window(kernel.op)
        for plan_name, (name, shape, element, writes) in zip(names, kernel.tensors):
            if plan_name not in self.places:
                self.places[plan_name] = len(self.arguments)
                shape = extents(name, shape, sizes, step)
                self.arguments.append((name, shape, element, writes))
                moved = least_bytes(kernel.op, name, shape, element, step, sizes)
                if name not in ("partial", "part", "stat"):  # stay within the case
                    self.writes += moved if writes else 0
                    self.reads += 0 if writes else moved
            numbers.append(self.places[plan_name])
        self.symbols.append(symbol)
        self.calls.append((kernel.op, numbers, list(sizes.values())))

    def text(self, step, seconds):
        arguments = ", ".join(
            f'{{"{name}", {TYPES[element][0]}, {{{", ".join(map(str, shape))}}}, {str(writes).lower()}}}'
            for name, shape, element, writes in self.arguments
        )
        calls = ", ".join(
            f"{{modelc_{op}, {{{', '.join(map(str, numbers))}}}, {{{', '.join(map(str, sizes))}}}}}"
            for op, numbers, sizes in self.calls
        )
        sizes = step.sizes
        return (
            f'  {{"{self.label}", "{step.title()}", "{self.kind}", "{" + ".join(self.symbols)}",\n'
            f"   {{{sizes['sequences']}, {step.new}, {sizes['context']}, {PAGE}, {self.window}}},\n"
            f"   {self.reads}.0, {self.writes}.0, {flops(self.kind, self.arguments, step, self.window)}.0, {seconds!r},\n"
            f"   {{{arguments}}},\n   {{{calls}}}}},\n"
        )


def follows(label, previous):
    """Whether an op finishes what the one before began."""
    return previous and label in (previous + "_reduce", previous + "_combine")


def estimates(modelc_opt, schedule, target, targets, step):
    """Seconds of each op of a step."""
    sizes = ",".join(f"{name}:{value}" for name, value in {**step.sizes, "rank": 0}.items())
    text = run(
        modelc_opt,
        schedule,
        f"--schedule-print-cost=target={target} targets-dir={targets} sizes={sizes}",
        "-o",
        os.devnull,
    )
    part = text.split(f"plan {step.plan}\n")[1].split("plan ")[0]
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    found = re.findall(r"^  (\S+): \S+ x ([\d.e+-]+) (\w+), bound by", part, re.MULTILINE)
    return {label: float(number) * units[unit] for label, number, unit in found}


def cases_of(package, steps, seconds_of):
    """The cases of all steps; what two steps launch alike is there once."""
    text, seen = "", set()
    for step in steps:
        seconds, case, cases = seconds_of(step), None, []
        for label, symbol, names, sizes in package.launches(step):
            kernel = package.kernels[symbol]
            if not follows(label, case.label if case else None):
                case = Case(label, family(kernel.op))
                cases.append((case, []))
            case.add(kernel, symbol, names, sizes, step)
            cases[-1][1].append(label)
        missed = set(seconds) - {label for _, labels in cases for label in labels}
        if missed:
            die(f"{step.plan}, {step.title()}: expected a kernel for {', '.join(missed)}, found none")
        for case, labels in cases:
            key = (tuple(case.symbols), str(case.arguments), str(case.calls))
            if key not in seen:
                seen.add(key)
                text += case.text(step, sum(seconds[label] for label in labels))
    return text


def cases_text(cases):
    """The file that defines all cases."""
    header = '#include "case.h"\n#include "modelc_kernels.h"\n\n'
    body = f"const std::vector<Case> &allCases() {{\n  static const std::vector<Case> cases = {{\n{cases}  }};\n  return cases;\n}}\n"
    return header + body


def build(options, folder, name):
    """The program of one package."""
    package = folder / name
    program = folder / f"suite-{name}"
    sources = [folder / f"cases-{name}.cpp", HERE / "suite.cpp", package / "host/modelc_kernels.cpp"]
    includes = [f"-I{package}/host", f"-I{package}/include", f"-I{HERE}"]
    if options.emulate:
        words = options.emulate.split()
        return run(*words, *includes, *sources, "-o", program)
    isa = json.loads((package / "manifest.json").read_text())["isa"]
    nvcc = os.environ.get("MODELC_NVCC", "nvcc")
    flags = [f"-arch={isa}", "-O2", "-std=c++17", "-cudart", "static", "-x", "cu"]
    # Where nvcc is a Python package its libraries are in lib, not in lib64.
    root = pathlib.Path(shutil.which(nvcc) or nvcc).resolve().parent.parent
    return run(nvcc, *flags, *includes, *sources, "-o", program, "-L", root / "lib", "-ldl")


def framework(folder, package, steps):
    """The lines of `run` that time a framework's attention, where there is one."""
    shapes = [
        re.search(r"_h(\d+)_kv(\d+)_d(\d+)_", symbol)
        for symbol in package.kernels
        if symbol.startswith("attention_prefill")
    ]
    prompts = [step for step in steps if step.plan == "prefill"]
    if not shapes or not prompts:
        return []
    shutil.copy(HERE / "framework.py", folder)
    sizes = [f"{step.sizes['sequences']}x{step.new}" for step in prompts]
    return [" ".join(["python3 framework.py", *shapes[0].groups(), *sizes])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    root = HERE.parent.parent
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--model", default=root / "examples/llama-3.3-70b.toml")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--weights", default="bf16,fp8")
    parser.add_argument("--steps", default=STEPS)
    parser.add_argument("--bin", default=root / ".build/release/bin", type=pathlib.Path)
    parser.add_argument("--emulate", help="compiler and flags of a program for the emulator")
    options = parser.parse_args()
    steps = [Step(text) for text in options.steps.split(",")]
    if options.folder.exists():
        shutil.rmtree(options.folder)
    options.folder.mkdir(parents=True)
    targets = root / "targets"
    longest = max(step.sizes["context"] for step in steps)
    batch = max(step.sizes["sequences"] for step in steps)
    names = options.weights.split(",")
    for name in names:
        package = options.folder / name
        # Shapes are asked for, not a step that fits the memory of one GPU.
        words = [options.bin / "modelc", options.model, f"--target={options.target}"]
        words += [f"--targets-dir={targets}", f"--weights={name}", "--set=memory.capacity=100TB"]
        words += [f"--isl={longest}", "--osl=1", f"--batch={batch}", "-o", package]
        run(*words, *([] if options.emulate else ["--emit=binary"]))

        def seconds_of(step):
            tool = options.bin / "modelc-opt"
            return estimates(tool, package / "schedule.mlir", options.target, targets, step)

        text = cases_of(Package(package), steps, seconds_of)
        (options.folder / f"cases-{name}.cpp").write_text(cases_text(text))
        build(options, options.folder, name)
    script = options.folder / "run"
    lines = [f'./suite-{name} {name} "$@" || status=1' for name in names]
    if not options.emulate:
        lines += framework(options.folder, Package(options.folder / names[0]), steps)
    script.write_text(
        "#!/bin/sh\n# Checks and times the kernels; --seed=N repeats a run.\n"
        f'cd "$(dirname "$0")" || exit 1\nstatus=0\n' + "\n".join(lines) + "\nexit $status\n"
    )
    script.chmod(0o755)
    print(f"{script}: {', '.join(names)} of {options.target}")


if __name__ == "__main__":
    main()
