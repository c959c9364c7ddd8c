"""readme.py ROOT SCRATCH: runs every command of the READMEs that calls a built tool, in
the order of the text, in a folder that has what they name."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

root, scratch = map(pathlib.Path, sys.argv[1:])
shutil.rmtree(scratch, ignore_errors=True)
(scratch / "path/to").mkdir(parents=True)
(scratch / "examples").symlink_to(root / "examples")
shutil.copy(root / "test/Golden/tiny-llama/config.json", scratch / "path/to/config.json")
(scratch / "in.mlir").write_text('module attributes {schedule.target = "mi355x"} {}\n')
with open(scratch / "graph.mlir", "w") as file:
    subprocess.run(["modelc-opt", root / "examples/tiny-llama.toml"], stdout=file, check=True)

commands = []
for name in ("README.md", "examples/README.md"):
    for block in re.findall(r"```\n(.*?)```", (root / name).read_text(), re.DOTALL):
        for line in block.splitlines():
            command = re.sub(r"\s+#.*", "", line)
            if re.match(r"modelc(-\w+)* ", command) and "--emit=binary" not in command:
                commands.append(command)

for command in commands:
    run = subprocess.run(command, shell=True, cwd=scratch, capture_output=True, text=True)
    if run.returncode or not run.stdout:
        sys.exit(f"exit code {run.returncode}: {command}\n{run.stderr}")
print(len(commands), "commands")
