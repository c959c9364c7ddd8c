"""make_bounds.py FOLDER: files that cost a careless reader its stack, all memory or hours.

make_bounds.py --time COMMAND...: runs it and prints the last word of its last line; fails
where it takes more processor time than any reader whose time grows with the size."""

import pathlib
import resource
import subprocess
import sys

DEEP, MANY = 100_000, 3_000_000
# A reader whose time grows with the square needs hours.
MOST_SECONDS = 60


def files():
    yield "arrays.json", '{"x": ' + "[" * DEEP
    yield "arrays.toml", "x = " + "[" * DEEP
    yield "dotted.toml", "x = 1\n" + "a." * DEEP + "b = 1\n"
    yield "header.toml", "[" + "a." * DEEP + "b]\n"
    yield "mixed.toml", "x = " + "{ a.a.a = " * 80 + "1" + " }" * 80 + "\n"
    yield "values.json", '{"x": [' + "0," * MANY + "0]}"
    yield "values.toml", "x = [" + "0," * MANY + "0]\n"
    yield "digits.toml", "x = " + "1" * DEEP + "\n"
    yield "large.json", '{"x": "' + "y" * (16 << 20) + '"}'
    yield "long.json", '{"x": ' + str(list(range(400_000))) + ', "y": "end"}'
    yield "long.toml", "x = " + str(list(range(400_000))) + '\ny = "end"\n'
    deep = "[" * 300
    yield "flat.toml", f'text = "{deep}" # {deep}\nquoted = \'{deep}\'\nnumbers = [{"1.5, " * 300}]\n'
    yield "modules.mlir", "module {\n" * 8000 + "}\n" * 8000
    yield "types.mlir", 'func.func private @f(' + "tuple<" * DEEP
    yield "affine.mlir", "#m = affine_map<(d0) -> (" + "(" * DEEP + "d0" + ")" * DEEP + ")>"
    yield "signs.mlir", "#m = affine_map<(d0) -> (" + "-" * DEEP + "d0)>"
    yield "places.mlir", "module {} loc(" + 'fused["a", ' * DEEP
    yield "aliases.mlir", "#a0 = 1\n" + "".join(f"#a{i} = [#a{i - 1}]\n" for i in range(1, DEEP))
    yield "digits.mlir", "module attributes {x.a = " + "1" * DEEP + "} {}\n"


def timed(command):
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if used.ru_utime + used.ru_stime > MOST_SECONDS:
        sys.exit(f"took {used.ru_utime + used.ru_stime} s")
    print("last", result.stdout.split()[-1])


if __name__ == "__main__":
    if sys.argv[1] == "--time":
        timed(sys.argv[2:])
    else:
        for name, text in files():
            (pathlib.Path(sys.argv[1]) / name).write_text(text)
