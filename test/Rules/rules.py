"""The project's rules as checks. Usage: rules.py RULE SOURCE_ROOT

Prints every violation and exits 1 if there is one.
"""

import pathlib
import re
import subprocess
import sys

from complete import check_complete
from pasted import check_pasted
from sources import check_sources

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_FOLDER_FILES = 25
CODE = (".cpp", ".h", ".td")
DEVICE = (".cuh", ".hip.h")
FORMATTED = (".cpp", ".h", ".cuh", ".cu", ".hip")
TEXT = FORMATTED + (".td", ".py", ".toml", ".md", ".mlir", ".test", ".txt", ".cmake", ".cfg",
                    ".json", "dev", "run", ".clang-format", ".gitignore")
FOLDERS = ("lib", "dialects", "tools", "targets", "test", "examples", ".ci")
CLANG_FORMAT = "/usr/lib/llvm-22/bin/clang-format"


def files(root, folders, suffixes):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.name.endswith(suffixes):
                yield path


def read_lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def folder_of(name):
    """The unit of layering that a path belongs to: lib/Cost, tools, ..."""
    parts = name.split("/")
    return parts[0] if parts[0] == "tools" else "/".join(parts[:2])


def allowed_includes(root):
    table = {}
    for line in read_lines(root / "lib/README.md"):
        row = re.match(r"\| `([^`]+)` \|(.*)\|", line)
        if row:
            table[row[1]] = re.findall(r"`([^`]+)`", row[2])
    return table


def check_includes(root):
    table = allowed_includes(root)
    for path in files(root, ("lib", "dialects", "tools"), (".cpp", ".h")):
        name = path.relative_to(root).as_posix()
        own = folder_of(name)
        if own not in table:
            yield f"{name}: folder '{own}' is missing in the table of lib/README.md"
            continue
        for number, line in enumerate(read_lines(path), 1):
            match = re.match(r'#include "((?:lib|dialects|tools)/[^"]+)"', line)
            if not match or folder_of(match[1]) == own:
                continue
            other = folder_of(match[1])
            if other not in table[own] and other.split("/")[0] + "/*" not in table[own]:
                yield f"{name}:{number}: {own} may not include {other}"
            leaf = match[1].split("/")[-1]
            public = other.split("/")[-1] + ".h"
            registers = own == "tools" and leaf == "Registration.h"  # modelc-opt
            if other.startswith("lib/") and leaf != public and not registers and own != "lib/Driver" \
                    and not leaf.endswith(".inc"):
                yield f"{name}:{number}: only {public} leaves {other}, not {leaf}"


def functions(lines):
    """(first line, length) of every function whose body ends with '}' in the first column."""
    start, opened = None, False
    for number, line in enumerate(lines, 1):
        if line.startswith("}"):
            if start and opened and line.rstrip() == "}":
                yield start, number - start + 1
            start, opened = None, False
        elif opened:
            continue
        elif re.match(r"[A-Za-z_\[~]", line) and not re.match(
                r"(namespace|extern|struct|class|enum|union|using|def|let|include)\b", line):
            start = start or number
        if start and line.endswith("{"):
            opened = True
        elif not opened and line.endswith(";"):
            start = None


def check_sizes(root):
    folders = ("lib", "dialects", "tools", "targets", "test")
    for folder in sorted(path for path in (root / "lib").rglob("*") if path.is_dir()):
        count = sum(path.suffix in (".cpp", ".h") for path in folder.iterdir())
        if count > MAX_FOLDER_FILES:
            yield (f"{folder.relative_to(root)}: {count} sources, expected at most {MAX_FOLDER_FILES}; "
                   "make folders by subject")
    for path in files(root, folders, CODE + DEVICE + (".py",)):
        name = path.relative_to(root).as_posix()
        lines = read_lines(path)
        if len(lines) > MAX_FILE_LINES:
            yield f"{name}: {len(lines)} lines, expected at most {MAX_FILE_LINES}; split by subject"
        if not path.name.endswith((".td", ".py")):
            for start, length in functions(lines):
                if length > MAX_FUNCTION_LINES:
                    yield (f"{name}:{start}: a function of {length} lines, expected at "
                           f"most {MAX_FUNCTION_LINES}")


def check_chip_names(root):
    names = re.compile(
        r"gfx9\d{2}|sm_\d{2,3}|\bmi3\d{2}x\b|\b[bh][123]00\b|\bgb[23]00\b|"
        r"\b(nvidia|amd|cdna\d?|hopper|blackwell)\b", re.IGNORECASE)
    for path in files(root, ("lib", "dialects", "tools"), CODE):
        for number, line in enumerate(read_lines(path), 1):
            match = names.search(line)
            if match:
                yield (f"{path.relative_to(root)}:{number}: '{match[0]}' in compiler code; "
                       "ask a capability")


def check_engine_names(root):
    """What engines and libraries do is data; comments may cite them."""
    names = re.compile(
        r"(?i:vllm|sglang|trtllm|tensorrt|aiter|cublas|hipblas|rocblas|flashinfer|flash_?attention|"
        r"deep_?gemm|deepep|cutlass|flydsl|composable_?kernel)|"
        r"\bATOM\b|(?<![a-z])(?i:triton|nccl|rccl)(?![a-z])")
    for path in files(root, ("lib", "dialects", "tools"), CODE):
        name = path.relative_to(root).as_posix()
        if name.startswith("lib/Engines/"):
            continue
        for number, line in enumerate(read_lines(path), 1):
            match = names.search(re.sub(r"//.*", "", line))
            if match:
                yield (f"{name}:{number}: '{match[0]}' outside lib/Engines; what it does goes to "
                       "targets/engines")


def check_layout(root):
    """Nothing else at the top of the tree."""
    expected = {"CMakeLists.txt", "README.md", "dialects", "examples", "lib", "targets",
                "test", "tools"}
    for path in sorted(root.iterdir()):
        if not path.name.startswith(".") and path.name not in expected:
            yield f"{path.name}: not one of the folders of the project"


def check_text(root):
    """Lines end where their text ends, files with a newline."""
    top = [path for path in sorted(root.iterdir()) if path.name.endswith(TEXT)]
    for path in [path for path in top if path.is_file()] + list(files(root, FOLDERS, TEXT)):
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                yield f"{name}:{number}: space at the end of the line"
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield f"{name}: expected one newline at the end of the file"


def check_format(root):
    """Every C++ file is as clang-format leaves it."""
    paths = [str(path) for path in files(root, FOLDERS, FORMATTED)]
    for at in range(0, len(paths), 64):
        run = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror"] + paths[at:at + 64],
                             capture_output=True, text=True)
        places = re.findall(r"^(.*:\d+):\d+: error: ", run.stderr, re.MULTILINE)
        yield from (f"{place}: expected what clang-format-22 -i makes of it" for place in places)
        if run.returncode and not places:
            yield run.stderr


RULES = {"includes": check_includes, "sizes": check_sizes, "chip-names": check_chip_names,
         "engine-names": check_engine_names,
         "layout": check_layout, "text": check_text, "format": check_format,
         "sources": check_sources, "pasted": check_pasted, "ops-complete": check_complete}


def main():
    rule, root = sys.argv[1], pathlib.Path(sys.argv[2])
    violations = list(RULES[rule](root))
    print("\n".join(violations))
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
