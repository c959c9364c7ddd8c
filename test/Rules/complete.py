"""Every op goes all the way: a schedule op has work, a spelling and an example, a
model op has a lowering, or is refused by name until it has one."""

import re

# Regions, storage and hints: they occupy no unit of the machine.
STRUCTURE = {"kernel", "role", "loop", "yield", "alloc", "prefetch"}
# What is not lowered as one op of a graph.
ROOTS = {"graph"}


def read(root, pattern):
    paths = sorted(root.glob(pattern))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def ops(text, bases):
    """(class, mnemonic, all of the definition) of every op in tablegen text."""
    for start in re.finditer(rf'^def (\w+) : (?:{bases})<"(\w+)"(?:[^\n]*;$|.*?^}})', text,
                             re.MULTILINE | re.DOTALL):
        yield start[1], start[2], start[0]


def body(text, signature):
    """A function from its signature to the closing brace in the first column."""
    found = re.search(rf"^[^\n]*{signature}.*?^}}", text, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


def check_schedule(root):
    text = read(root, "dialects/Schedule/*.td")
    emit = read(root, "lib/Emit/*/*.cpp")
    spelled = (body(emit, r"KernelPrinter::printOp\(") + body(emit, r"PlanPrinter::printOp\(") +
               body(emit, r" modelc::emitKernel\("))
    examples = "".join(re.findall(r"```mlir\n(.*?)```", text, re.DOTALL))
    work = read(root, "dialects/Schedule/Work.cpp")
    found = list(ops(text, "ScheduleOp|MemoryOp"))
    if len(found) < len(STRUCTURE):
        yield "dialects/Schedule: expected the definitions of its ops"
    for name, mnemonic, definition in found:
        has_work = "MemoryOp<" in definition or "HasWork" in definition
        if mnemonic not in STRUCTURE and not (has_work and f"{name}::getWork()" in work):
            yield f"schedule.{mnemonic}: occupies a unit, expected {name}::getWork"
        if not re.search(rf"Case<[^>]*\b{name}\b|emitKernel\({name}\b", spelled):
            yield f"schedule.{mnemonic}: expected a spelling in lib/Emit"
        if f"schedule.{mnemonic} " not in examples:
            yield f"schedule.{mnemonic}: expected an example in its description"
        if "let summary" not in definition:
            yield f"schedule.{mnemonic}: expected a summary"


def check_model(root):
    text = read(root, "dialects/Model/*.td")
    lowered = body(read(root, "lib/Kernels/Graph/Lower.cpp"), r"kernels::lowerOp\(")
    # What no kernel computes yet is said at its op.
    refused = body(read(root, "lib/Kernels/Graph/Missing.cpp"), r"missingOf\(Operation \*op\)")
    # What fusing always replaces: its result is lowered.
    fused = read(root, "lib/ModelPasses/FuseLinears.cpp")
    examples = "".join(re.findall(r"```mlir\n(.*?)```", text, re.DOTALL))
    for name, mnemonic, _ in ops(text, "Model_Op|Model_Collective"):
        name = name.removeprefix("Model_")
        use = rf"model::{name}\b"
        if mnemonic not in ROOTS and not (
                re.search(use, lowered) or re.search(use, refused) or re.search(rf"onlyUseOf<{use}>", fused)):
            yield f"model.{mnemonic}: expected a lowering in lib/Kernels/Graph/Lower.cpp"
        if f"model.{mnemonic} " not in examples:
            yield f"model.{mnemonic}: expected an example in its description"


def check_complete(root):
    yield from check_schedule(root)
    yield from check_model(root)
