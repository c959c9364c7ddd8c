"""Makes the golden files of a tiny random Llama in test/Golden/tiny-llama/.

Written by torch 2.15.0+cu132 (on the CPU) and transformers 5.23.0 with
Python 3.11.7; the files change with other versions only in the last digits.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0 transformers==5.23.0
    /tmp/golden/bin/python test/Golden/make_tiny_llama.py

The weights are rounded to bf16, everything is computed in float32. Two prompts
of 11 and 21 tokens are prefilled, each alone and without padding, then 8 tokens
are decoded greedily with the KV cache.

    config.json    as transformers saves it
    weights.bin    all tensors, bf16, little endian, row-major, one after another
    weights.json   name -> shape and offset in bytes in weights.bin
    golden.json    prompts; tokens[sequence][step]; smallest distance between the
                   best and the second logit of any step
    logits.bin     f32 [step 0 = last token of the prefill, 1..8][sequence][vocab]
    rope.json      frequencies of RoPE with Llama 3 scaling, head_dim 128
"""

import json
import pathlib

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

OUT = pathlib.Path(__file__).parent / "tiny-llama"
PROMPT_LENGTHS = (11, 21)
DECODE_STEPS = 8
SEED = 136  # of 0..149 the one with the largest margin


def make_config():
    return LlamaConfig(
        vocab_size=320, hidden_size=128, intermediate_size=384,
        num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
        head_dim=64, max_position_embeddings=256, rms_norm_eps=1e-5,
        rope_theta=10000.0, tie_word_embeddings=False, attention_bias=False,
        mlp_bias=False, architectures=["LlamaForCausalLM"], bos_token_id=None,
        eos_token_id=None)


def make_model(config):
    """Weights that keep activations near 1 and make the tokens matter."""
    torch.manual_seed(SEED)
    model = LlamaForCausalLM(config).float().eval()
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if name.endswith("norm.weight"):
                tensor.uniform_(0.5, 1.5)
            elif "embed_tokens" in name:
                tensor.normal_(0.0, 1.0)
            else:
                tensor.normal_(0.0, tensor.shape[1] ** -0.5)
            tensor.copy_(tensor.bfloat16().float())
    return model


def run(model, prompt):
    """Logits of the prefill's last token and of each decode step; the tokens."""
    logits, tokens = [], []
    step = torch.tensor([prompt])
    cache = None
    for _ in range(DECODE_STEPS + 1):
        with torch.no_grad():
            out = model(step, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        logits.append(out.logits[0, -1])
        tokens.append(int(logits[-1].argmax()))
        step = torch.tensor([[tokens[-1]]])
    return torch.stack(logits), tokens


def write_weights(model):
    index, data = {}, b""
    for name, tensor in model.state_dict().items():
        index[name] = {"shape": list(tensor.shape), "offset": len(data)}
        data += tensor.bfloat16().contiguous().view(torch.int16).numpy().tobytes()
    (OUT / "weights.bin").write_bytes(data)
    write_json("weights.json", index)


def write_json(name, value):
    lines = json.dumps(value, indent=1)
    (OUT / name).write_text(lines + "\n")


def write_rope():
    """What transformers computes for the scaling of Llama 3.1."""
    scaling = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0,
               "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 8192}
    config = LlamaConfig(hidden_size=4096, num_attention_heads=32, head_dim=128,
                         max_position_embeddings=131072, rope_parameters=scaling)
    frequencies, factor = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    assert factor == 1.0
    write_json("rope.json", {"scaling": scaling, "head_dim": 128,
                             "frequencies": frequencies.tolist()})


def main():
    OUT.mkdir(exist_ok=True)
    config = make_config()
    model = make_model(config)
    generator = torch.Generator().manual_seed(SEED)
    prompts = [torch.randint(0, config.vocab_size, (n,), generator=generator).tolist()
               for n in PROMPT_LENGTHS]
    results = [run(model, prompt) for prompt in prompts]
    logits = torch.stack([r[0] for r in results], dim=1).contiguous()
    best = logits.topk(2, dim=-1).values
    margin = float((best[..., 0] - best[..., 1]).min())
    config.dtype = torch.bfloat16
    config.save_pretrained(OUT)
    write_weights(model)
    (OUT / "logits.bin").write_bytes(logits.float().numpy().tobytes())
    write_json("golden.json", {"prompts": prompts, "tokens": [r[1] for r in results],
                               "margin": margin})
    write_rope()
    print(f"margin {margin:.4f}, logits std {float(logits.std()):.3f}, tokens",
          [r[1] for r in results])


if __name__ == "__main__":
    main()
