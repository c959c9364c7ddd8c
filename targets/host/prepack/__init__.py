"""Weights of a checkpoint as the kernels of a package want them, in numpy.

    from prepack import Package

    for weight in Package("out").weights("decode"):
        for layer in weight.layers:
            array = weight.prepare(read, layer, rank)  # the contents of tensors[weight.slot(layer)]

`read(name)` gives a whole tensor of the checkpoint or None: an array of numpy, a tensor of torch, or a pair of the name
of a type and an array of its bits, ("bf16", uint16), ("f8E4M3FN", uint8), ("f8E8M0FNU", uint8), ("f4E2M1FNx2", uint8
of two numbers) or ("f6E2M3FNx32", uint8, 24 of 32 numbers). The array that comes back has the shape of the weight, and
bits where numpy lacks the type; of six bits it has the 24 bytes of blocks as a dimension more.

What a weight holds and how its bits lie is read from manifest.json: "source", "order" and "numbers". The words of a
source, and what is computed, are described in targets/host/README.md; modelc_prepare (host/prepare.h) gives the same bits.
"""

import json
import pathlib
from dataclasses import dataclass, field

from .few_bits import Numbers
from .preparation import Preparation


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
        return self.first + layer - self.layers.start

    def prepare(self, read, layer=0, rank=0):
        """The contents for a layer and a rank, from a checkpoint; ValueError says what does not fit."""
        return Preparation(self, read, layer, rank).run()


class Package:
    """What manifest.json says of weights."""

    def __init__(self, folder):
        self.manifest = json.loads((pathlib.Path(folder) / "manifest.json").read_text(encoding="utf-8"))
        self.numbers = {name: Numbers(**facts) for name, facts in self.manifest["numbers"].items()}

    def weights(self, plan):
        """Those of a plan ("prefill", "decode"), in the order of its tensors."""
        for known in self.manifest["plans"]:
            if known["name"] == plan:
                return [self._weight(tensor) for tensor in known["tensors"] if tensor["role"] == "weight"]
        raise ValueError(f"expected a plan of the package, {', '.join(p['name'] for p in self.manifest['plans'])}, "
                         f"got {plan}")

    def _weight(self, tensor):
        first = tensor.get("first_layer", 0)
        return Weight(self, tensor["name"], tensor["dtype"], tensor["shape"], tensor["source"], tensor.get("order"),
                      range(first, first + tensor["count"]), tensor["first"])
