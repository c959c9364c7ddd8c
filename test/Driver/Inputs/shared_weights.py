"""shared_weights.py MODELC SOURCE_ROOT: a weight that twice as many ops read takes about twice as long.

Instructions are counted by cachegrind, as instructions.py does.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

LINE = ('  { out = "v", op = "linear", in = "n", weight = "self_attn.v_proj.weight", size = "kv_heads * head_dim", '
        'role = "kv_heads", head_dim = "head_dim" },\n')
MOST = 3  # times as many for twice the ops: what compares all with all takes four times as many


def count(modelc, text):
    with tempfile.TemporaryDirectory() as folder:
        graph = pathlib.Path(folder) / "graph.toml"
        graph.write_text(text)
        run = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                              modelc, graph, "--target=mi300x", "--weights=fp8_block", "--emit=model", "-o", pathlib.Path(folder) / "out"],
                             capture_output=True, text=True, check=False)
    found = re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)
    if run.returncode or not found:
        sys.exit(f"no count: {run.stderr}")
    return int(found[1].replace(",", ""))


def main():
    modelc, root = sys.argv[1], pathlib.Path(sys.argv[2])
    text = (root / "examples/tiny-llama.toml").read_text()
    if text.count(LINE) != 1:
        sys.exit("expected the line of v in the example")
    one, two = (count(modelc, text.replace(LINE, LINE * ops)) for ops in (1000, 2000))
    print(f"{two / one:.2f} times the instructions")
    sys.exit(two > MOST * one)


if __name__ == "__main__":
    main()
