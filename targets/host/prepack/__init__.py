"""Weights of a checkpoint as the kernels of a package want them, in numpy.

    from prepack import Package

    for weight in Package("out").weights("decode"):
        for layer in weight.layers:
            array = weight.prepare(read, layer, rank)  # the contents of tensors[weight.slot(layer)]
    for constant in Package("out").constants("decode"):
        array = constant.fill()  # the contents of tensors[constant.first]

`read(name)` gives a whole tensor of the checkpoint or None: an array of numpy, a tensor of torch, or a pair of the name
of a type and an array of its bits, ("bf16", uint16), ("f8E4M3FN", uint8), ("f8E8M0FNU", uint8), ("f4E2M1FNx2", uint8
of two numbers) or ("f6E2M3FNx32", uint8, 24 of 32 numbers). The array that comes back has the shape of the weight, and
bits where numpy lacks the type; of six bits it has the 24 bytes of blocks as a dimension more.

What a weight holds and how its bits lie is read from manifest.json: "source", "order" and "numbers". The words of a
source, and what is computed, are described in targets/host/README.md; modelc_prepare (host/prepare.h) gives the same bits.
"""

from dataclasses import dataclass, field

from . import manifest
from .few_bits import Numbers
from .preparation import prepared
from .tables import Table


@dataclass
class Constant:
    """One table of a plan."""

    name: str
    shape: list
    source: str
    first: int

    def fill(self):
        """The contents of tensors[first]; ValueError says what does not fit."""
        try:
            table = Table(self.source).fill(self.shape[0])
        except (ArithmeticError, LookupError) as mistake:
            raise ValueError(f"{self.name}: expected a table as modelc writes it, got {self.source[:200]}: "
                             f"{mistake!r}") from mistake
        if list(table.shape) != self.shape:
            raise ValueError(f"{self.name}: expected a table of {self.shape}, got {list(table.shape)}")
        return table


@dataclass
class Weight:
    """One weight of a plan, or one for each layer."""

    package: "Package" = field(repr=False)
    name: str
    type: str
    shape: list
    source: str
    order: dict
    layers: range
    first: int

    def slot(self, layer=0):
        """Its place among the tensors of the plan."""
        return self.first + self.layers.index(layer)

    def prepare(self, read, layer=0, rank=0):
        """The contents for a layer and a rank, from a checkpoint; ValueError says what does not fit."""
        try:
            return prepared(self, read, layer, rank)
        except (ArithmeticError, LookupError, MemoryError, StopIteration, TypeError) as mistake:
            raise ValueError(f"{self.name}: expected a weight as modelc writes it, got {self.source[:200]} of "
                             f"{self.type} {self.shape}: {mistake!r}") from mistake


class Package:
    """What manifest.json says of weights."""

    def __init__(self, folder):
        self.manifest = manifest.load(folder)
        self.numbers = {name: Numbers(**facts) for name, facts in manifest.numbers(self.manifest).items()}

    def weights(self, plan):
        """Those of a plan ("prefill", "decode"), in the order of its tensors."""
        return [self._weight(tensor) for tensor in self._tensors(plan, "weight")]

    def constants(self, plan):
        """The tables of a plan, in the order of its tensors."""
        return [Constant(*(manifest.taken(tensor, key, kind, "a constant")
                           for key, kind in (("name", str), ("shape", list), ("source", str), ("first", int))))
                for tensor in self._tensors(plan, "constant")]

    def _tensors(self, plan, role):
        known = manifest.plans(self.manifest)
        if plan not in known:
            raise ValueError(f"expected a plan of the package, {', '.join(known)}, got {plan}")
        tensors = manifest.listed(known[plan], "tensors", dict, plan)
        return [tensor for tensor in tensors if manifest.taken(tensor, "role", str, "a tensor") == role]

    def _weight(self, tensor):
        name = manifest.taken(tensor, "name", str, "a tensor")
        needed = ("first", "count")
        counts = {key: manifest.within(manifest.taken(tensor, key, int, name), 0, 2**31, name)
                  for key in ("first", "count", "first_layer", "layer_step") if key in tensor or key in needed}
        order = "order" in tensor and manifest.taken(tensor, "order", dict, name)
        first, step = counts.get("first_layer", 0), max(counts.get("layer_step", 1), 1)
        return Weight(self, name, manifest.taken(tensor, "dtype", str, name),
                      [manifest.within(size, 1, 2**31, name) for size in manifest.listed(tensor, "shape", int, name)],
                      manifest.taken(tensor, "source", str, name),
                      {key: manifest.listed(order, key, int, name) for key in ("row", "block")} if order else None,
                      range(first, first + counts["count"] * step, step), counts["first"])
