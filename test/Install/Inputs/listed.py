"""listed.py MADE BIN: every flag of every tool's --help is in its manual page and in its completions."""

import pathlib
import re
import subprocess
import sys

made, tools = map(pathlib.Path, sys.argv[1:])
for page in sorted(made.glob("man/man1/*.1")):
    name = page.name.removesuffix(".1")
    text = subprocess.run([tools / name, "--help"], capture_output=True, text=True, check=True).stdout
    manual = page.read_text(encoding="utf-8").replace("\\-", "-")
    bash = (made / "bash-completion/completions" / name).read_text(encoding="utf-8")
    zsh = (made / f"zsh/_{name}").read_text(encoding="utf-8")
    flags = re.findall(r"^ {1,6}(--?[\w-]+).* - ", text, re.MULTILINE)
    nested = re.findall(r"^ {7,}(--?[\w-]+).* - ", text, re.MULTILINE)
    lost = [flag for flag in flags + nested if f"\\fB{flag}\\fR" not in manual]
    lost += [flag for flag in flags if not re.search(rf'[ "]{flag}[= "]', bash) or f"'{flag}" not in zsh]
    if lost or not flags:
        sys.exit(f"{name}: expected {', '.join(lost) or 'flags'}")
