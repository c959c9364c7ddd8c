"""hostile.py KIND ROOT SCRATCH CLANG: names that try to leave their quotes, comments and lines, always the same ones,
through an input format and every file that is made of it. Each file is compiled or parsed, every name comes back
unchanged, and no statement in a name runs.

KIND: graph | folder | mlir | schedule | symbols
"""

import json
import pathlib
import py_compile
import random
import re
import subprocess
import sys

WORKLOAD = ["--isl=32", "--osl=32", "--batch=2", "--target=h200"]
# What a host compiler says of text that only looks right.
STRICT = ["-Wall", "-Werror", "-Wtrigraphs", "-Winvalid-utf8"]
RUN = "std::abort()"
CHOSEN = [
    f'", 0); {RUN}; run.step("', f'"}}; int planted = ({RUN}, 0); const char *rest = "', f"*/ int planted = ({RUN}, 0); /*",
    f"\nint planted = ({RUN}, 0);\n//", f"a\\\nint planted = ({RUN}, 0);", f"??/\nint planted = ({RUN}, 0);",
    f"\r\n#define modelc_host {RUN}\r\n", "#error planted", '"', '""', "'", "\\", "a\\", '\\"', "\\\\22", "\\22", "a??/",
    "%s%s%n%d", 'R"x(', ')x"', "a, b] split 0 of 2", '" first rank', '"] largest default 7 "', "]", ",", "a\tb", "\x01", "\x7f",
    " ", "  a  ", "é", "中文", "😀", "\u202e", "\u2028", "\ufeff", "$(touch planted)", "`touch planted`", "<script>", "&amp;",
    "int", "switch", "and", "run", "at", "tensors", "layer", "sizes", "std", "main", "assert", "errno", "EOF", "NULL", "INFINITY",
    "__LINE__", "_Bool", "linux", "choose_x", "launch_x", "aMap", "aOfPeers", "modelc", "0", "1.5", "_", "-", "a.b", "a_b", "a-b",
    "a__b", "A_B", "x" * 300, "../../etc/passwd", "C:\\temp\\new", "loc(", "@f", "%x",
]
PIECES = ['"', "'", "\\", "/", "*", "?", "\n", "\r", "%", "{layer}", "(", ")", ";", "[", "]", ",", "#", "\t", " ", "é", "😀", "\x02",
          "n", "x", "0", "22", "u00", RUN, "split 0 of 2", "R\"("]


def hostile_names():
    seeded = random.Random(20)
    drawn = ["".join(seeded.choices(PIECES, k=seeded.randint(1, 9))) for _ in range(60)]
    names = dict.fromkeys(name for name in CHOSEN + drawn if name.count("{") == name.count("{layer}"))
    return [name for name in names if name.count("}") == name.count("{layer}") or name in CHOSEN]


def toml_string(text):
    """Never what the compiler does itself: all but letters and digits as its number."""
    return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08X}" for c in text) + '"'


def mlir_string(text):
    return '"' + "".join(c if c.isalnum() and c.isascii() else "".join(f"\\{b:02X}" for b in c.encode()) for c in text) + '"'


def run(command, folder, code=0, why=""):
    result = subprocess.run(command, cwd=folder, capture_output=True)
    errors = result.stderr.decode("utf-8", "replace")
    if result.returncode != code or why not in errors:
        sys.exit(f"expected exit code {code} and {why!r} of {command}, got {result.returncode}:\n{errors}")
    return result.stdout


def strict_json(path):
    def refuse(constant):
        raise ValueError(f"{path}: {constant} is no JSON")

    return json.loads(path.read_bytes().decode("utf-8"), parse_constant=refuse)


class Package:
    """The files of a package, each compiled."""

    def __init__(self, folder, root, clang):
        self.folder, self.root, self.clang = folder, root, clang
        self.manifest = strict_json(folder / "manifest.json")
        strict_json(folder / "compile.json")

    def build(self):
        header = self.folder / "header.c"
        header.write_text('#include "host/modelc_kernels.h"\n')
        run([self.clang, "-std=c99", "-fsyntax-only", *STRICT, "header.c"], self.folder)
        run([self.clang, "--driver-mode=g++", "-std=c++17", *STRICT, "-Ihost", "host/modelc_kernels.cpp",
             str(self.root / "test/Driver/Inputs/names.cpp"), "-o", "names", "-ldl"], self.folder)
        for path in self.folder.glob("python/**/*.py"):
            py_compile.compile(str(path), cfile=str(self.folder / "compiled"), doraise=True)

    def build_kernels(self):
        """The text of all kernels, as the emulator includes it."""
        run([self.clang, "--driver-mode=g++", "-std=c++20", "-fsyntax-only", "-w", "-DMODELC_EMULATOR", "-Iinclude", "-Ihost",
             f"-I{self.root}/targets", "host/modelc_kernels.cpp"], self.folder)

    def names_in_library(self):
        """Tensors that the loader in C++ asks for."""
        return {name.decode("utf-8") for name in run(["./names"], self.folder).split(b"\0")[:-1]}

    def names_in_python(self):
        sys.path.insert(0, str(self.folder / "python"))
        from prepack.checkpoint import Source

        sources = [tensor["source"] for plan in self.manifest["plans"] for tensor in plan["tensors"]
                   if tensor["role"] == "weight"]
        return {part.name for source in sources for part in Source(source, 0).parts}

    def expect(self, names):
        wanted = {name.replace("{layer}", "0") for name in names}
        for where, found in (("C++", self.names_in_library()), ("Python", self.names_in_python())):
            if found != wanted:
                sys.exit(f"{where}: expected the names of the graph, got {found - wanted} for {wanted - found}")


def graph_text(root, names, title="tiny"):
    """The tiny model with other names of its weights, and the names."""
    given, used, prefix, lines = iter(names), [], "", []

    def rename(found):
        name = next(given, found[1])
        name = name if prefix else name.replace("{layer}", "layer")
        used.append(prefix + name)
        return f"weight = {toml_string(name)}"

    for line in (root / "examples/tiny-llama.toml").read_text().split("\n"):
        prefix = "model.layers.{layer}." if line.startswith("prefix") else "" if line == "[[block]]" else prefix
        lines.append(re.sub(r'weight = "([^"]*)"', rename, line))
    return "\n".join(lines).replace('"tiny-llama"', toml_string(title)), used


def graphs(root, scratch):
    """Every name in some graph: (folder, its names)."""
    left, count = hostile_names(), graph_text(root, [])[0].count("weight = ")
    for number in range(0, len(left), count):
        folder = scratch / f"graph{number}"
        folder.mkdir(parents=True)
        text, used = graph_text(root, left[number:number + count], left[number])
        (folder / "graph.toml").write_text(text, encoding="utf-8")
        yield folder, used


def check_graph(root, scratch, clang):
    for number, (folder, names) in enumerate(graphs(root, scratch)):
        run(["modelc", "graph.toml", *WORKLOAD, "-o", "out"], folder)
        package = Package(folder / "out", root, clang)
        package.build()
        package.expect(names)
        if number == 0:
            package.build_kernels()
        json.loads(run(["modelc", "graph.toml", *WORKLOAD, "--json"], folder))


def check_mlir(root, scratch, clang):
    """A graph in MLIR, and as TOML that was exported, says what the graph said."""
    for folder, names in graphs(root, scratch):
        first = run(["modelc-opt", "graph.toml"], folder)
        (folder / "graph.mlir").write_bytes(first)
        (folder / "again.toml").write_bytes(run(["modelc-opt", "--export-toml", "graph.mlir"], folder))
        if run(["modelc-opt", "again.toml"], folder) != first:
            sys.exit(f"{folder}: expected the graph again from what was exported")
    run(["modelc", "graph.mlir", *WORKLOAD, "-o", "out"], folder)
    package = Package(folder / "out", root, clang)
    package.build()
    package.expect(names)


def check_folder(root, scratch, clang):
    """The name of a folder becomes that of the model."""
    config = (root / "test/Golden/tiny-llama/config.json").read_text()
    for number, name in enumerate(name for name in hostile_names() if "/" not in name and len(name.encode()) < 200):
        folder = scratch / f"at {number}" / f"_{name}"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(config)
        text = run(["modelc", "import", str(folder)], scratch)
        (scratch / "imported.toml").write_bytes(text)
        run(["modelc-opt", "imported.toml"], scratch)
        if number % 16 == 0:
            json.loads(run(["modelc", str(folder), *WORKLOAD, "--json", "-o", f"out{number}"], scratch))
            Package(scratch / f"out{number}", root, clang).build()


def texts(value):
    """All strings of a value of JSON."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return ({value} if isinstance(value, str) else set()).union(*map(texts, inner))


def check_schedule(root, scratch, clang):
    """Labels, notes, sources and roles of a schedule."""
    plain = (root / "test/Emit/gemm-cdna4.mlir").read_text().rsplit("\n}", 1)[0] + "\n" \
        + (root / "test/EndToEnd/Inputs/chain.plan").read_text()
    places = re.compile(r'(?<=note = )"[^"]*"|(?<=tokens\) )"[^"]*"|"(model.layers.{layer}.w|first).weight"')
    count, left = len(places.findall(plain)), hostile_names()
    if count != 8:
        sys.exit(f"expected labels, sources and a note in the schedule, got {count}")
    for number in range(0, len(left), count):
        names = left[number:number + count]
        given, folder = iter(names), scratch / str(number)
        folder.mkdir(parents=True)
        (folder / "chain.mlir").write_text(places.sub(lambda _: mlir_string(next(given, "plain")), plain))
        run(["modelc-package", "chain.mlir", str(root / "targets"), "out"], folder)
        missing = set(names) - texts(strict_json(folder / "out/manifest.json"))
        if missing:
            sys.exit(f"expected {missing} in the manifest")
        run([clang, "--driver-mode=g++", "-std=c++17", *STRICT, "-fsyntax-only", "out/host/modelc_kernels.cpp"], folder)
        source = (folder / "out/src/linear.hip").read_text()
        comment = source[:source.index("#include")].strip().split("\n")
        if not all(line.startswith("// ") and not line.endswith("\\") for line in comment):
            sys.exit(f"expected a comment, got {comment}")


def check_symbols(root, scratch, clang):
    """What is a symbol, a file or a variable elsewhere is refused where it enters."""
    scratch.mkdir(parents=True)
    text = (root / "test/Emit/gemm-cdna4.mlir").read_text()
    why = "expected a name of letters, digits and '_'"
    for name in hostile_names():
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,199}", name):
            continue
        for old, new in ((r"schedule.kernel @\w+", f"schedule.kernel @{mlir_string(name)}"),
                         ('op_name = "linear"', f"op_name = {mlir_string(name)}")):
            (scratch / "kernel.mlir").write_text(re.sub(old, lambda _: new, text, count=1))
            run(["modelc-opt", "kernel.mlir"], scratch, 1, why)
        plain = name.replace("-", "_")
        if re.fullmatch(r"[!-z]+", name) and not set("\"'\\,{}") & set(name) and not re.fullmatch(r"[A-Za-z_]\w*", plain):
            (scratch / "empty.mlir").write_text("module {}\n")
            run(["modelc-opt", f"--kernels-build=family=norm symbol={name}", "empty.mlir"], scratch, 1,
                f"1:1: error: expected a symbol of letters, digits and '_', got '{plain}'")


def main():
    kind, root, scratch, clang = sys.argv[1], *map(pathlib.Path, sys.argv[2:4]), sys.argv[4]
    subprocess.run(["rm", "-rf", str(scratch)], check=True)
    {"graph": check_graph, "mlir": check_mlir, "folder": check_folder, "schedule": check_schedule,
     "symbols": check_symbols}[kind](root, scratch, clang)
    if list(scratch.rglob("planted")):
        sys.exit("a statement in a name was run")


main()
