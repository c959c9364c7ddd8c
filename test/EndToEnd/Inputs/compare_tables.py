"""compare_tables.py PACKAGE_PYTHON ROPE_JSON EXE SCRATCH: tables of the C++ and Python of a package, bit by bit, and
against the frequencies of transformers, which are in f32."""

import json
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from prepack.tables import Table

POSITIONS = 4097


def made(executable, source, width, path):
    path.write_text(f"{POSITIONS} {width} {source}\n")
    return np.frombuffer(subprocess.run([executable, path], stdout=subprocess.PIPE, check=True).stdout, np.float32)


def error(table, kind):
    """The largest, where an angle has the error of a frequency in f32."""
    angles = np.arange(POSITIONS)[:, None] * np.array(kind["frequencies"])
    exact = np.stack([np.cos(angles), np.sin(angles)], axis=1) * kind["factor"]
    return np.abs(table - exact).max() / (POSITIONS * 2.0**-24)


kinds = json.loads(pathlib.Path(sys.argv[2]).read_text())
scratch = pathlib.Path(sys.argv[4])
for name, kind in kinds.items():
    table = Table(kind["source"]).fill(POSITIONS)
    same = made(sys.argv[3], kind["source"], 2 * len(kind["frequencies"]), scratch).tobytes() == table.tobytes()
    print(f"{name}: {'the same' if same else 'others'} in C++, {'right' if error(table, kind) < 4 else 'wrong'}")
planted = kinds["yarn"] | {"source": kinds["yarn, not truncated"]["source"]}
print("another range:", "right" if error(Table(planted["source"]).fill(POSITIONS), planted) < 4 else "wrong")
temperature = Table("temperature scale 0.1 every 1024").fill(POSITIONS)
same = made(sys.argv[3], "temperature scale 0.1 every 1024", 1, scratch).tobytes() == temperature.tobytes()
print("temperature:", "the same in C++," if same else "others in C++,", *temperature[[0, 1022, 1023, 4095]].tolist())
