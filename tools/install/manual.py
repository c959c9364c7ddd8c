"""manual.py OUT TOOL...: the manual pages and shell completions of tools, made from what their --help prints.

Writes man/man1/TOOL.1, bash-completion/completions/TOOL and zsh/_TOOL below OUT.
"""

import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

# What the shell offers as --target.
MACHINES = "modelc targets 2>/dev/null | awk 'NR > 1 { print $1 }'"


# Values of which LLVM's help says the type of C++.
TYPES = {"long": "number", "uint": "number", "ulong": "number", "int": "number", "string": "text"}


@dataclass
class Flag:
    name: str  # with its dashes
    value: str  # "<value>", or empty
    separator: str  # what stands between: "=" or a space
    meaning: str
    isNested: bool = False  # an option of the pass above
    words: list = field(default_factory=list)  # (word, meaning)

    def kind(self):
        """What the value is called: "number", "folder"."""
        name = self.value.strip("[=<>]")
        return TYPES.get(name, name)


@dataclass
class Command:
    words: list  # ["modelc", "explain"]
    overview: str = ""
    usage: str = ""
    groups: list = field(default_factory=list)  # (title, flags)
    verbs: list = field(default_factory=list)  # (verb, meaning)

    def flags(self):
        return [flag for _, flags in self.groups for flag in flags if not flag.isNested]


def read(command, text):
    """Takes LLVM's form of help apart."""
    isVerbs = False
    for line in text.splitlines():
        flag = re.match(r"( +)(--?[\w-]+)(?:(=| )(<[^>]*>)|(\[?=<[^>]*>\]?))? +- +(.*)", line)
        word = re.match(r" +=(\S+) +- +(.*)", line)
        verb = re.match(r"  ([\w-]+) +- (.*)", line)
        title = re.match(r" *(\S.*):$", line)
        if line.startswith("OVERVIEW: "):
            overview = line.removeprefix("OVERVIEW: ").removeprefix(command.words[0] + ": ")
            command.overview = command.overview or overview
        elif line.startswith("SUBCOMMAND "):
            command.overview = line.split(": ", 1)[1]
        elif line.startswith("USAGE: "):
            command.usage = line.removeprefix("USAGE: ")
        elif line == "SUBCOMMANDS:":
            isVerbs = True
        elif title:
            isVerbs = False
            command.groups.append((title[1], []))
        elif isVerbs and verb:
            command.verbs.append((verb[1], verb[2]))
        elif flag:
            separator, value = flag[3] or "", flag[4] or flag[5] or ""
            command.groups[-1][1].append(
                Flag(flag[2], value, separator, flag[6], len(flag[1]) > 6))
        elif word:
            command.groups[-1][1][-1].words.append((word[1], word[2]))
    return command


def commands(tool):
    """The command itself, then its verbs."""

    def helped(words):
        text = subprocess.run([tool, *words, "--help"], capture_output=True, text=True, check=True)
        return read(Command([tool.name, *words]), text.stdout)

    top = helped([])
    return [top] + [helped([verb]) for verb, _ in top.verbs]


# ===----------------------------------------------------------------------=== #
# Manual pages
# ===----------------------------------------------------------------------=== #


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def entry(flag, indent):
    lines = [".TP"]
    value = f"{flag.separator}\\fI{roff(flag.kind())}\\fR" if flag.value else ""
    lines += [f"\\fB{roff(flag.name)}\\fR{value}", roff(flag.meaning)]
    if flag.words:
        lines.append(".RS")
        for word, meaning in flag.words:
            lines += [".TP", f"\\fB{roff(word)}\\fR", roff(meaning)]
        lines.append(".RE")
    return [".RS"] + lines + [".RE"] if indent else lines


def manual(all_commands, version, others):
    top = all_commands[0]
    name = top.words[0]
    lines = [f'.TH {name.upper()} 1 "" "{version}" "User Commands"', ".SH NAME",
             f"{roff(name)} \\- {roff(top.overview)}", ".SH SYNOPSIS"]
    for command in all_commands:
        lines += [".br", f"\\fB{roff(command.usage)}\\fR"]
    for command in all_commands:
        lines.append(".SH OPTIONS" if command is top else f'.SH "{" ".join(command.words).upper()}"')
        if command is not top:
            lines.append(roff(command.overview))
        for title, flags in command.groups:
            isSaid = command is top or title != "Generic Options"
            if flags and isSaid:
                lines.append(f'.SS "{roff(title)}"')
                lines += [line for flag in flags for line in entry(flag, flag.isNested)]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{roff(other)}\\fR(1)" for other in others if other != name)]
    return "\n".join(lines) + "\n"


# ===----------------------------------------------------------------------=== #
# Completions
# ===----------------------------------------------------------------------=== #


def spelled(flag):
    return flag.name + (flag.separator.strip() if flag.value else "")


def bash_values(command):
    """The cases of flags whose value is one of a few words."""
    for flag in command.flags():
        words = " ".join(word for word, _ in flag.words)
        if flag.name == "--target":
            words = f"$({MACHINES})"
        if words or flag.kind() == "number":
            verb = " ".join(command.words[1:])
            isNumber = flag.kind() == "number"
            action = "compopt +o default" if isNumber else offer(words)
            yield f'    "{verb} {flag.name}") {action} ;;'


BASH = """# Completion of {name} for bash, made from its --help.
_{function}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} verb= flag=
  # bash makes three words of --flag=value.
  if [[ $word == = ]]; then
    flag=$before word=
  elif [[ $before == = ]]; then
    flag=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  if [[ $COMP_CWORD -gt 1 ]]; then
    case ${{COMP_WORDS[1]}} in
      {verbs}) verb=${{COMP_WORDS[1]}} ;;
    esac
  fi
  # Without an offer, bash offers files.
  COMPREPLY=()
  case "$verb $flag" in
{values}
    *" ")
      if [[ $word == -* ]]; then
        case $verb in
{flags}
        esac
        [[ ${{COMPREPLY[0]-}} != *= ]] || compopt -o nospace
{first}      fi
      ;;
  esac
}}
complete -o bashdefault -o default -F _{function} {name}
"""


def offer(words, more=""):
    return f'COMPREPLY=($(compgen -W "{words}" -- "$word"){more})'


def bash(all_commands):
    name = all_commands[0].words[0]
    values, flags = [], []
    for command in all_commands:
        values += bash_values(command)
        verb = "".join(command.words[1:])
        words = " ".join(spelled(flag) for flag in command.flags())
        flags.append(f'          "{verb}") {offer(words)} ;;')
    verbs = [verb for verb, _ in all_commands[0].verbs]
    first = ""
    if verbs:
        # A first word may be a file as well.
        words = offer(" ".join(verbs), ' $(compgen -f -- "$word")')
        first = "\n".join(["      elif [[ $COMP_CWORD -eq 1 ]]; then",
                           "        compopt -o filenames", f"        {words}", ""])
    return BASH.format(name=name, function=name.replace("-", "_"), verbs="|".join(verbs) or "''",
                       values="\n".join(values), flags="\n".join(flags), first=first)


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_spec(flag):
    """What _arguments is told of a flag."""
    spec = f"{spelled(flag)}[{zsh_text(flag.meaning)}]"
    if flag.value:
        words = " ".join(f'{word}\\:"{zsh_text(meaning)}"' for word, meaning in flag.words)
        action = f"(({words}))" if words else " " if flag.kind() == "number" else "_files"
        if flag.name == "--target":
            action = "{compadd -- $(" + MACHINES.replace("'", "'\\''") + ")}"
        spec += f":{zsh_text(flag.kind())}:{action}"
    return f"'{spec}'"


def zsh(all_commands):
    name = all_commands[0].words[0]
    lines = [f"#compdef {name}", f"# Completion of {name} for zsh, made from its --help.", ""]
    verbs = all_commands[0].verbs
    first = f"_{name.replace('-', '_')}_first"
    if verbs:
        listed = " ".join(f"'{verb}:{zsh_text(meaning)}'" for verb, meaning in verbs)
        lines += [f"{first}() {{", f"  local verbs=({listed})", "  _describe command verbs", "  _files",
                  "}", ""]
    lines.append("case $words[2] in")
    for command in all_commands[1:] + all_commands[:1]:
        verb = "".join(command.words[1:])
        specs = [zsh_spec(flag) for flag in command.flags()]
        if verb:
            specs.append(f"'1:command:({verb})'")
        elif verbs:
            specs.append(f"'1: :{first}'")
        specs.append("'*:file:_files'")
        lines += [f"  {verb or '*'})", "    _arguments \\", "      " + " \\\n      ".join(specs), "    ;;"]
    return "\n".join(lines + ["esac"]) + "\n"


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def main():
    out, tools = pathlib.Path(sys.argv[1]), [pathlib.Path(tool) for tool in sys.argv[2:]]
    version = subprocess.run([tools[0], "--version"], capture_output=True, text=True, check=True)
    names = sorted(tool.name for tool in tools)
    shutil.rmtree(out, ignore_errors=True)
    for tool in tools:
        found = commands(tool)
        page = manual(found, " ".join(version.stdout.split()[:2]), names).encode()
        write(out / f"man/man1/{tool.name}.1", page)
        write(out / f"bash-completion/completions/{tool.name}", bash(found).encode())
        write(out / f"zsh/_{tool.name}", zsh(found).encode())


if __name__ == "__main__":
    main()
