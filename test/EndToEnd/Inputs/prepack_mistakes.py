"""Prints what the Python of a package says of checkpoints that do not fit it. Usage: prepack_mistakes.py PACKAGE"""

import copy
import dataclasses
import json
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, sys.argv[1] + "/python")
from prepack import Package  # noqa: E402

package = Package(sys.argv[1])
weights = {weight.name: weight for weight in package.weights("decode")}


def bytes_of(*shape):
    return np.zeros(shape, np.uint8)


def floats_of(*shape):
    return np.zeros(shape, np.float32)


def say(name, tensors, source=None):
    """What is said of a weight whose tensor is `w`."""
    weight = weights[name]
    source = source or '["w"]' + weight.source.partition("]")[2]
    try:
        dataclasses.replace(weight, source=source).prepare(tensors.get)
        print(f"{name}: no mistake")
    except ValueError as error:
        print(error)


def say_manifest(text):
    """What is said of a package whose manifest is that."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "manifest.json").write_text(text)
        try:
            Package(folder).weights("decode")
            print("no mistake")
        except ValueError as error:
            print(str(error).replace(folder + "/", ""))


def say_changed(change):
    """The same, of this package's manifest with a change."""
    manifest = copy.deepcopy(package.manifest)
    change(manifest)
    say_manifest(json.dumps(manifest))


def say_manifests():
    say_manifest("{")
    say_manifest("[" * 100000)
    say_manifest("[]")
    say_changed(lambda manifest: manifest.pop("plans"))
    say_changed(lambda manifest: manifest["numbers"]["f8E4M3FN"].update(bits=64))
    say_changed(lambda manifest: manifest["numbers"]["f8E4M3FN"].update(largest=float("nan")))
    say_changed(lambda manifest: [plan.update(tensors="none") for plan in manifest["plans"]])
    weight = next(tensor for plan in package.manifest["plans"] for tensor in plan["tensors"] if tensor["role"] == "weight")
    for key, value in (("shape", [-1, 128]), ("shape", ["a"]), ("count", 2.5), ("source", None), ("dtype", [])):
        say_changed(lambda manifest: [tensor.update({key: value}) for plan in manifest["plans"]
                                      for tensor in plan["tensors"] if tensor["name"] == weight["name"]])


def main():
    down, scales = "mlp_down_proj", "mlp_down_proj_scale"
    is_grouped = " grouped " in weights[down].source
    say(down, {})
    say(down, {"w": np.zeros((128, 384), np.int64)})
    say(down, {"w": floats_of(128, 200)})
    say(down, {"w": floats_of(64, 384)})
    say(down, {"w": floats_of(128, 384)}, '["w"] blocks 16 of f4E2M1FN sacled f8E4M3FN')
    if not is_grouped:
        say("norm", {"w": ("f8E4M3FN", bytes_of(128))})
        say(down, {"w": bytes_of(128, 192)}, '["w"] stored bf16 blocks 16 of f4E2M1FN scaled f8E4M3FN')
        say(down, {"w": bytes_of(128, 192), "w_scale": bytes_of(128, 12)})
        say(scales, {"w": bytes_of(128, 192), "w_scale": bytes_of(64, 24), "w_scale_2": floats_of(1)})
        say("mlp_down_proj_tensor_scale", {"w": bytes_of(128, 192)})
        say(scales, {"w": floats_of(128, 192)})
        say(scales, {"w": floats_of(257, 384)})
        say(scales, {"w": floats_of(128, 384)}, '["w"] block_scale')
        say("mlp_gate_proj_scale", {"w": floats_of(256, 128)})
    else:
        say(down, {"w": bytes_of(128, 384)})
        say(down, {"w": bytes_of(128, 384), "w_scale_inv": floats_of(1, 2)})
    try:
        package.weights("train")
    except ValueError as error:
        print(error)
    say_manifests()


main()
