"""Nothing is pasted between the quotes or into a comment of a text that a compiler or a loader reads.

A literal of C++ that opens a quote or a comment closes it: what lies between comes from a function of lib/Text."""

import re

PRINTERS = ("lib/Emit", "lib/Import/Export*", "lib/Kernels/Graph")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])*\'')
# Functions that look for a quote and print none.
READS = re.compile(r"(consume_front|consume_back|contains|trim|ltrim|rtrim|split|rsplit|find\w*|starts_with|ends_with)\($")
COMPARES = re.compile(r"[=!]= ?$")
PLAIN = {"n": "\n", "t": "\t", "0": "\0"}


def literals(text):
    """(line, what stands before, the text that it means) of every literal; neighbours are one."""
    joined, before, end = None, "", 0
    for found in COMMENT_OR_TEXT.finditer(text):
        if found[0].startswith("//"):
            continue
        raw = found[0].startswith("R")
        body = found[0][3:-2] if raw else re.sub(r"\\(.)", lambda c: PLAIN.get(c[1], c[1]), found[0][1:-1])
        if joined and found[0][0] != "'" and not text[end:found.start()].strip():
            joined = (joined[0], before, joined[2] + body)
        else:
            if joined:
                yield joined
            before = text[max(0, found.start() - 40):found.start()].rstrip()
            joined = (text.count("\n", 0, found.start()) + 1, before, body)
        end = found.end()
    if joined:
        yield joined


def is_open(body):
    """Whether a comment goes on behind the text."""
    rest = re.sub(r"/\*(.|\n)*?\*/|//[^\n]*\n", "", body)
    return "/*" in rest or "//" in rest


def check_pasted(root):
    paths = sorted({path for printer in PRINTERS for path in root.glob(
        printer + ("/**/*" if "*" not in printer else "")) if path.suffix in (".cpp", ".h")})
    if len(paths) < 20:
        yield f"expected the files of {', '.join(PRINTERS)}, found {len(paths)}"
    for path in paths:
        name = path.relative_to(root).as_posix()
        for line, before, body in literals(path.read_text(encoding="utf-8")):
            if READS.search(before) or COMPARES.search(before):
                continue
            if body.count('"') % 2 or re.search(r'"(\{\d|%)', body):
                yield f"{name}:{line}: text is pasted between quotes; take cString, cInclude or tomlString of lib/Text"
            if is_open(body):
                yield f"{name}:{line}: text is pasted into a comment; take lineComment or blockComment of lib/Text"
