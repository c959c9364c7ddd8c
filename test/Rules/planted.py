"""planted.py SOURCE_ROOT SCRATCH: breaks every rule in a copy of the tree, one at a
time, and expects that the rule says so."""

import pathlib
import shutil
import subprocess
import sys

TARGET = "targets/amd/mi355x.toml"
OPS = "dialects/Schedule/ScheduleOps.td"
MODEL_OPS = "dialects/Model/ModelOps.td"

# (rule, file, text, replacement, what is said); text None: appended.
PLANTED = [
    ("sources", TARGET, 'grade = "datasheet"\n', "", "mi355x.toml: target: no grade"),
    ("sources", TARGET, "[memory]\nsource = ", "[memory]\norigin = ", "memory: no source"),
    ("sources", TARGET, 'grade = "derived"\n', 'grade = "certain"\n', "got certain"),
    ("sources", TARGET, ', grade = "measured", source = "github', ', source = "github',
     "power.idle: no grade"),
    ("sources", "targets/amd/cdna4.toml", "[[shared.access]]\nsource = ",
     "[[shared.access]]\norigin = ", "shared.access[0]: no source"),
    ("sources", "targets/amd/cdna4.toml", "[target]\nsource = ", "[target]\nsource = ' ' #",
     "target: the source is empty"),
    ("ops-complete", OPS, 'def SyncOp : ScheduleOp<"sync", [HasWork]>',
     'def SyncOp : ScheduleOp<"sync">', "schedule.sync: occupies a unit, expected SyncOp::getWork"),
    ("ops-complete", OPS, "schedule.relayout %x", "schedule.load %x",
     "schedule.relayout: expected an example"),
    ("ops-complete", "lib/Emit/Kernel/Loops.cpp", ".Case<ReduceOp>", ".Case<MapOp>",
     "schedule.reduce: expected a spelling in lib/Emit"),
    ("ops-complete", "lib/Emit/Host/HostPlanText.cpp", ".Case<CollectiveOp>", ".Case<LoopOp>", "schedule.collective: expected a spelling"),
    ("ops-complete", "dialects/Schedule/Work.cpp", "ReduceOp::getWork()", "ReduceOp::work()",
     "schedule.reduce: occupies a unit"),
    ("ops-complete", MODEL_OPS, "#endif",
     'def Model_ScanOp : Model_Op<"scan", [Pure]> {\n}\n#endif',
     "model.scan: expected a lowering"),
    ("ops-complete", "lib/Kernels/Graph/Lower.cpp", "model::AddOp, model::AllGatherOp,",
     "model::AllGatherOp,", "model.add: expected a lowering"),
    ("pasted", "lib/Emit/Host/HostPlanText.cpp", "cString(op.getLabel().value_or(choice.opName))",
     '"\\"" << op.getLabel().value_or(choice.opName) << "\\""', "text is pasted between quotes"),
    ("pasted", "lib/Emit/Host/HostLaunchers.cpp", 'lineComment(guardText(kernel.op) + ".")',
     '"/// " << guardText(kernel.op)', "text is pasted into a comment"),
    ("pasted", "lib/Import/ExportGraph.cpp", "tomlString(stringifySampling(op.getSampling()))",
     """llvm::formatv("'{0}'", 1) << llvm::formatv("\\"{0}\\"", op.getSampling())""", "text is pasted between quotes"),
    ("pasted", "lib/Emit/Host/Host.cpp", '"\\n" << blockComment(about)', '"\\n/* " << about[0]', "into a comment"),
    ("format", "lib/Driver/Version.cpp", "out << ", "out  <<", "Version.cpp:9: expected what"),
    ("text", "README.md", "## Start", "## Start ", "README.md:13: space at the end"),
    ("text", "targets/README.md", None, "\n", "expected one newline at the end"),
    ("chip-names", "lib/Driver/Version.cpp", None, "// mi300x\n", "'mi300x' in compiler code"),
    ("engine-names", "lib/Driver/Version.cpp", None, "static bool isVllm();\n", "'Vllm' outside lib/Engines"),
    ("engine-names", "lib/Cost/Cost.h", "double tensorBytes = 0;", "double tensorBytes = 0, ncclBytes = 0;",
     "'nccl' outside lib/Engines"),
    ("includes", "lib/Kernels/Library.cpp", None, '#include "lib/Engines/Engines.h"\n',
     "lib/Kernels may not include lib/Engines"),
    ("sources", "targets/engines/vllm.toml", 'architectures = ["Hopper"]', 'architectures = ["Hoper"]',
     "vllm.toml: linear: no machine of architecture Hoper"),
    ("sources", "targets/engines/sglang.toml", "[[correction]]\nsource = ", "[[correction]]\norigin = ",
     "correction: no source"),
    ("sources", "targets/engines/trtllm.toml", "[[attention]]\nsource = ", "[[attention]]\norigin = ",
     "attention.case[0]: no source"),
    ("includes", "lib/Cost/Plan.cpp", None, '#include "lib/Emit/Emit.h"\n',
     "lib/Cost may not include lib/Emit"),
    ("sizes", "lib/Driver/Version.cpp", None, "//\n" * 400, "lines, expected at most 400"),
    ("sizes", "lib/Driver/Version.cpp", None, "void f() {\n" + "  g();\n" * 60 + "}\n",
     "a function of 62 lines"),
]


def complaints(rule, root):
    script = pathlib.Path(__file__).with_name("rules.py")
    run = subprocess.run([sys.executable, "-B", str(script), rule, str(root)],
                         capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def plant(scratch, rule, name, text, replacement, said):
    path = scratch / name
    before = path.read_text(encoding="utf-8")
    if text is not None and text not in before:
        return f"{name}: no longer holds {text!r}, plant another mistake"
    path.write_text(before + replacement if text is None else
                    before.replace(text, replacement, 1), encoding="utf-8")
    code, output = complaints(rule, scratch)
    path.write_text(before, encoding="utf-8")
    if code != 1 or said not in output:
        return f"{rule}: expected {said!r} for {name}, got exit code {code}:\n{output}"
    return None


def crowd(scratch):
    """A folder of more sources than a reader overlooks."""
    folder = scratch / "lib/Crowd"
    folder.mkdir()
    for number in range(26):
        (folder / f"File{number}.cpp").write_text("", encoding="utf-8")
    _, output = complaints("sizes", scratch)
    shutil.rmtree(folder)
    return None if "lib/Crowd: 26 sources" in output else f"sizes: expected lib/Crowd, got {output}"


def main():
    root, scratch = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    shutil.copy(root / "README.md", scratch)
    shutil.copy(root / ".clang-format", scratch)
    for folder in ("lib", "dialects", "targets"):
        shutil.copytree(root / folder, scratch / folder)
    (scratch / "tools").mkdir()
    wrong = [text for text in (plant(scratch, *mistake) for mistake in PLANTED) if text]
    wrong += [text for text in [crowd(scratch)] if text]
    print("\n".join(wrong) or f"{len(PLANTED) + 1} mistakes found")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
