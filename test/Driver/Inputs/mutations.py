"""Ways to break a JSON, TOML or MLIR file, in a fixed order."""

import re

NUMBERS = ["-1", "0", "3", "7.5", "1e400", "1e-300", "4294967297", "9223372036854775807",
           "99999999999999999999999999"]
OTHERS = ['"text"', '""', "true", "[]", "{}", "[[1, 2], 3]"]
ONLY = {".json": ["null", "NaN", "-Infinity"], ".toml": ["nan", "-inf", "1979-05-27"]}
UNITS = ['"8 W"', '"-1 B"', '"1e30 TB/s"', '"0 clk"', '"nan GHz"', '"12"', '"10 parsecs"',
         '"1 pJ/flop"', '"1e-40 s"']

VALUE = r'"[^"\n]*"|\[[^\[\]\n]*\]|[-+.\w]+'
KEY = {".json": rf'"(\w+)":\s*({VALUE})', ".toml": rf'\b(\w+) = ({VALUE})'}
SIGN = {".json": ": ", ".toml": " = "}


def of_values(text, suffix):
    """Every key deleted, misspelled, doubled, and with every kind of wrong value."""
    for match in re.finditer(KEY[suffix], text):
        if re.search(r"^\s*#[^\n]*$", text[:match.start()].rsplit("\n", 1)[-1]):
            continue
        key = match[1]

        def with_text(new):
            return text[:match.start()] + new + text[match.end():]

        quote = '"' if suffix == ".json" else ""
        for value in NUMBERS + OTHERS + ONLY[suffix] + (UNITS if suffix == ".toml" else []):
            yield f"{key} is {value}", with_text(f"{quote}{key}{quote}{SIGN[suffix]}{value}")
        yield f"{key} is misspelled", with_text(
            f"{quote}{key}x{quote}{SIGN[suffix]}{match[2]}")
        yield f"{key} twice", with_text(f"{match[0]}, {match[0]}" if suffix == ".json"
                                        else f"{match[0]}\n{match[0]}")


def of_lines(text):
    """Every line deleted, doubled; the file cut after it."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        before, after = "".join(lines[:number]), "".join(lines[number + 1:])
        if line.strip() and not line.lstrip().startswith(("#", "//")):
            yield f"without line {number + 1}", before + after
            yield f"line {number + 1} twice", before + line + line + after
            yield f"cut in line {number + 1}", before + line[:len(line) // 2]


def of_mlir(text):
    """Every number and every name of a type or an op replaced."""
    for match in re.finditer(r"(?<![\w%#@.])\d+(?:\.\d+(?:[eE][-+]\d+)?)?|x(?=\d)", text):
        for number in NUMBERS[:2] + NUMBERS[4:]:
            yield (f"{match[0]} at {match.start()} is {number}",
                   text[:match.start()] + number + text[match.end():])
    for match in re.finditer(r"\b(bf16|f32|i32|index|[a-z]+\.[a-z_]+|[a-z_]{4,})\b", text):
        for word in ("f16", "i1", "model.norm", "schedule.sync", "none"):
            yield (f"{match[0]} at {match.start()} is {word}",
                   text[:match.start()] + word + text[match.end():])
    for match in re.finditer(r"%\w+", text):
        yield f"{match[0]} at {match.start()} is %other", (
            text[:match.start()] + "%other" + text[match.end():])


def of_files(text, suffix):
    """What is no such file at all."""
    deep = {".json": '{"a": ' * 100000, ".toml": "a = " + "[" * 100000,
            ".mlir": "module {" * 20000}
    garbage = bytes(range(256)) * 8
    yield "empty", b""
    yield "one byte", b"\0"
    yield "garbage", garbage
    yield "garbage at the end", text.encode() + garbage
    yield "garbage in the middle", text.encode()[:40] + garbage + text.encode()[40:]
    yield "deeply nested", deep[suffix].encode()
    yield "deep value", (deep[suffix] + text).encode()
    yield "one long line", b"x" * (1 << 20)
    yield "a UTF-16 file", text.encode("utf-16")
    yield "no newline but returns", text.replace("\n", "\r").encode()


def mutants(text, suffix):
    """(what was done, bytes of the file)"""
    yield from of_files(text, suffix)
    texts = list(of_lines(text))
    texts += list(of_mlir(text) if suffix == ".mlir" else of_values(text, suffix))
    for label, mutant in texts:
        yield label, mutant.encode()
