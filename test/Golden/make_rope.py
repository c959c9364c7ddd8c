"""Makes test/Golden/rope.json: how transformers stretches the frequencies of RoPE.

    /tmp/golden/bin/python test/Golden/make_rope.py

Of each kind: the text that says the same in a package, frequencies (in f32, as
transformers has them) and the factor of cosines and sines. Versions: make_tiny.py.
"""

import json
import pathlib

from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

YARN = {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
        "original_max_position_embeddings": 4096}
YARN_TEXT = "columns 64 theta 150000 factor 32 beta_fast 32 beta_slow 1 original_context 4096 magnitude {} truncate {}"
# Name: parameters, columns of a head, longest context, text.
KINDS = {
    "llama3": ({"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}, 128, 131072,
               "columns 128 theta 500000 factor 8 low_freq_factor 1 high_freq_factor 4 original_context 8192"),
    "linear": ({"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0}, 128, 131072,
               "columns 128 theta 1000000 stretched 8"),
    "yarn": (YARN | {"truncate": True}, 64, 131072, YARN_TEXT.format(1.3465735902799727, 1)),
    "yarn, not truncated": (YARN | {"truncate": False}, 64, 131072, YARN_TEXT.format(1.3465735902799727, 0)),
    "yarn of DeepSeek": (YARN | {"rope_theta": 10000.0, "factor": 40.0, "mscale": 1.0, "mscale_all_dim": 1.0}, 64,
                         163840, "columns 64 theta 10000 factor 40 beta_fast 32 beta_slow 1 original_context 4096 "
                         "magnitude 1 truncate 1"),
}


def made(parameters, columns, context, text):
    config = LlamaConfig(hidden_size=columns * 8, num_attention_heads=8, head_dim=columns,
                         max_position_embeddings=context, rope_parameters=parameters)
    frequencies, factor = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, "cpu")
    return {"source": "rope " + text, "factor": factor, "frequencies": frequencies.tolist()}


if __name__ == "__main__":
    table = {name: made(*kind) for name, kind in KINDS.items()}
    path = pathlib.Path(__file__).parent / "rope.json"
    path.write_text(json.dumps(table, indent=1) + "\n")
