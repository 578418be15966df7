"""Presets: how the usual providers and servers want to be asked, each from its own documentation.

A preset fills an endpoint's fields; the user gives a name, a model and what the address leaves
open. No preset holds a price: prices change, and are read from a file that the user has. What a
preset says of a server is where the client begins; what a server refuses, it learns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from atom.errors import SettingsError
from atom.records import BoxConvention, Endpoint, PictureLimit, Role, StructuredMode

_BLANK = re.compile(r"\{([a-z]+)\}")
_FITS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
THINKING_TOKENS: Final = 8192
"""Room for thoughts of a model that is known to think before it replies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A provider or server, as its documentation describes it.

    Args:
        name: by which it is chosen, `openai`.
        title: the provider's own name.
        address: where it is asked; `{blanks}` in it are for the user to fill.
        key_env: the environment variable that usually holds its key; None = no key.
        port: where it usually listens on one's own computer; None = it's elsewhere.
        structured: the strongest reply form that it keeps.
        boxes: how its models write boxes, where all of them do it alike.
        concurrency: requests at a time to begin with.
        timeout: seconds for one try.
        query: what follows `?` in the address.
        extra_headers: further headers; `${NAME}` stands for an environment variable.
        extra_body: further fields of every request.
        sampling: its habits with sampling settings, in words.
        hint: what else whoever adds it has to know.
        sources: the documentation that says so.
    """

    name: str
    title: str
    address: str
    key_env: str | None
    sources: tuple[str, ...]
    port: int | None = None
    structured: StructuredMode = "auto"
    pictures: PictureLimit = field(default_factory=PictureLimit)
    boxes: BoxConvention | None = None
    concurrency: int = 16
    timeout: float = 120.0
    query: Mapping[str, str] = field(default_factory=dict)
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, object] = field(default_factory=dict)
    sampling: str = ""
    hint: str = ""

    @property
    def blanks(self) -> tuple[str, ...]:
        """What the address leaves open, in order."""
        return tuple(dict.fromkeys(_BLANK.findall(self.address)))

    @property
    def is_local(self) -> bool:
        """Whether it usually runs on one's own computer."""
        return self.port is not None

    def endpoint(
        self,
        *,
        name: str,
        model: str,
        base_url: str | None = None,
        key_env: str | None = None,
        roles: Sequence[Role] = ("judge", "candidate"),
        **blanks: str,
    ) -> Endpoint:
        """Make an endpoint of it.

        Args:
            name: the endpoint's name.
            model: the model, as the server calls it.
            base_url: another address than the usual one.
            key_env: another variable than the usual one.
            roles: what it is asked for.
            **blanks: what the address leaves open.

        Returns:
            The endpoint, without prices. A model that is known to think first gets room for it,
            and one whose boxes are known to follow a convention has that.

        Raises:
            SettingsError: a blank isn't filled, or a field is wrong.
        """
        address = base_url or self._filled(blanks)
        try:
            return Endpoint(
                name=name,
                base_url=address,
                model=model,
                family=model_family(model),
                key_env=key_env or self.key_env,
                roles=tuple(roles),
                concurrency=self.concurrency,
                pictures=self.pictures,
                structured=self.structured,
                timeout=self.timeout,
                preset=self.name,
                thinking_tokens=THINKING_TOKENS if thinks(model) else 0,
                extra_body=dict(self.extra_body),
                extra_headers=dict(self.extra_headers),
                query=dict(self.query),
                boxes=documented_boxes(model) or self.boxes,
            )
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise SettingsError(f"{where} of {name!r}: {first['msg']}.") from None

    def _filled(self, blanks: Mapping[str, str]) -> str:
        missing = [blank for blank in self.blanks if not blanks.get(blank, "").strip()]
        if missing:
            raise SettingsError(
                f"The address of {self.title} needs {' and '.join(missing)}: {self.address}. "
                f"Give {' '.join(f'--set {blank}=...' for blank in missing)}, or the whole "
                "address."
            )
        for blank in self.blanks:
            if not _FITS.fullmatch(blanks[blank].strip()):
                raise SettingsError(
                    f"{blank} {blanks[blank]!r} can't stand in an address. Give letters, digits, "
                    "dots and dashes."
                )
        return self.address.format(**{blank: blanks[blank].strip() for blank in self.blanks})


def find_preset(name: str) -> Preset:
    """Return a preset by its name.

    Raises:
        SettingsError: there is none of that name.
    """
    known = name.strip().lower()
    if known not in PRESETS:
        raise SettingsError(f"There is no preset {name!r}. Known: {', '.join(PRESETS)}.")
    return PRESETS[known]


# --- models --------------------------------------------------------------------------------------

_FAMILIES: tuple[tuple[str, str], ...] = (
    (r"gpt|chatgpt|(^|[/-])o[134](-|$)", "gpt"),
    (r"claude", "claude"),
    (r"gemini", "gemini"),
    (r"gemma", "gemma"),
    (r"qwen|qwq|qvq", "qwen"),
    (r"mistral|pixtral|magistral|ministral", "mistral"),
    (r"llama|llava", "llama"),
    (r"internvl", "internvl"),
    (r"deepseek", "deepseek"),
    (r"minicpm", "minicpm"),
    (r"molmo", "molmo"),
    (r"phi-?[345]", "phi"),
    (r"grok", "grok"),
    (r"glm", "glm"),
)
_THINKERS = re.compile(
    r"(^|/)(o[134](-|$)|gpt-5(?!.{0,200}chat))|gemini-(2\.5|[3-9])|deepseek-(r1|reasoner)|qwq|qvq|"
    r"thinking|reason|magistral|qwen3(?!.{0,200}instruct)|gpt-oss|glm-4\.[1-9]v"
)
_DOCUMENTED: tuple[tuple[str, BoxConvention, str], ...] = (
    ("gemini", "yxyx_1000", "https://ai.google.dev/gemini-api/docs/image-understanding"),
    (r"qwen2\.?5-?vl", "xyxy_pixels", "Qwen2.5-VL Technical Report, arXiv 2502.13923, 2.1"),
    (r"qwen2-?vl", "xyxy_1000", "Qwen2-VL, arXiv 2409.12191, 2.2"),
    (r"qwen3(\.5)?-?vl", "xyxy_1000", "https://github.com/QwenLM/Qwen3-VL (cookbooks)"),
    (r"internvl", "xyxy_1000", "InternVL, arXiv 2312.14238 and its documentation, grounding"),
)
"""How families of models are trained to write boxes; a pattern, the convention, where it says."""


def model_family(model: str) -> str:
    """Return the family that a model's name tells; empty where it tells none."""
    known = model.lower()
    return next((family for pattern, family in _FAMILIES if re.search(pattern, known)), "")


def thinks(model: str) -> bool:
    """Whether a model's name says that it thinks before it replies."""
    return _THINKERS.search(model.lower()) is not None


def documented_boxes(model: str) -> BoxConvention | None:
    """Return how a model is documented to write boxes; None where nothing is known.

    A model that is asked for another form may follow that instead: `endpoint test` measures it.
    """
    known = model.lower()
    for pattern, convention, _ in _DOCUMENTED:
        if re.search(pattern, known):
            return convention
    return None


# --- providers -----------------------------------------------------------------------------------

_LOCAL = PictureLimit(max_side=1280, min_side=28, max_bytes=5_000_000, max_count=8)
"""Servers on one's own computer: their models cut pictures into tiles of 14 or 28 pixels, fail on
thinner ones, and have short contexts."""

_ALL: tuple[Preset, ...] = (
    Preset(
        name="openai",
        title="OpenAI",
        address="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        pictures=PictureLimit(max_side=2048, max_bytes=15_000_000, max_count=100),
        sampling="Reasoning models (o-series, GPT-5) refuse temperature, top_p and max_tokens and "
        "take reasoning_effort and max_completion_tokens.",
        sources=(
            "https://platform.openai.com/docs/guides/images-vision",
            "https://platform.openai.com/docs/guides/structured-outputs",
            "https://platform.openai.com/docs/guides/reasoning",
        ),
    ),
    Preset(
        name="azure-openai",
        title="Azure OpenAI",
        address="https://{resource}.openai.azure.com/openai/deployments/{deployment}",
        key_env=None,
        pictures=PictureLimit(max_side=2048, max_bytes=15_000_000, max_count=10),
        query={"api-version": "2024-10-21"},
        extra_headers={"api-key": "${AZURE_OPENAI_API_KEY}"},
        sampling="As with OpenAI itself. What the content filter stops comes back as an error "
        "(HTTP 400).",
        hint="The model is the deployment's name. The key goes into AZURE_OPENAI_API_KEY, which "
        "is sent as the header api-key.",
        sources=(
            "https://learn.microsoft.com/azure/ai-services/openai/reference",
            "https://learn.microsoft.com/azure/ai-services/openai/quotas-limits",
        ),
    ),
    Preset(
        name="gemini",
        title="Gemini (OpenAI-compatible)",
        address="https://generativelanguage.googleapis.com/v1beta/openai",
        key_env="GEMINI_API_KEY",
        pictures=PictureLimit(max_side=3072, max_bytes=7_000_000, max_count=64),
        boxes="yxyx_1000",
        sampling="Gemini 2.5 and later think first; reasoning_effort sets how long. A request "
        "with pictures may have 20 MB in all.",
        sources=(
            "https://ai.google.dev/gemini-api/docs/openai",
            "https://ai.google.dev/gemini-api/docs/image-understanding",
        ),
    ),
    Preset(
        name="anthropic",
        title="Anthropic (OpenAI-compatible)",
        address="https://api.anthropic.com/v1",
        key_env="ANTHROPIC_API_KEY",
        structured="text",
        pictures=PictureLimit(max_side=1568, max_bytes=3_700_000, max_count=20),
        concurrency=8,
        sampling="Temperature goes from 0 to 1; seed, reasoning_effort and response_format are "
        "taken and ignored, so replies are asked for in words.",
        hint="A picture may have 5 MB as base64, which is 3.7 MB as a file.",
        sources=(
            "https://docs.claude.com/en/api/openai-sdk",
            "https://docs.claude.com/en/docs/build-with-claude/vision",
        ),
    ),
    Preset(
        name="openrouter",
        title="OpenRouter",
        address="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
        extra_body={"provider": {"require_parameters": True}},
        sampling="What a provider behind it doesn't know is left out unread, unless only "
        "providers that know it are asked, as here. Errors may come in a reply with status 200.",
        sources=(
            "https://openrouter.ai/docs/features/provider-routing",
            "https://openrouter.ai/docs/features/structured-outputs",
            "https://openrouter.ai/docs/api-reference/errors",
        ),
    ),
    Preset(
        name="mistral",
        title="Mistral",
        address="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        pictures=PictureLimit(max_side=1540, max_bytes=9_500_000, max_count=8),
        concurrency=4,
        sampling="Unknown fields are refused (HTTP 422): its seed is called random_seed.",
        sources=(
            "https://docs.mistral.ai/capabilities/vision",
            "https://docs.mistral.ai/api/#tag/chat",
        ),
    ),
    Preset(
        name="together",
        title="Together AI",
        address="https://api.together.xyz/v1",
        key_env="TOGETHER_API_KEY",
        concurrency=8,
        sampling="All of OpenAI's; structured replies for some models only.",
        sources=(
            "https://docs.together.ai/docs/openai-api-compatibility",
            "https://docs.together.ai/docs/json-mode",
            "https://docs.together.ai/docs/vision-overview",
        ),
    ),
    Preset(
        name="vllm",
        title="vLLM",
        address="http://127.0.0.1:8000/v1",
        key_env=None,
        port=8000,
        pictures=_LOCAL,
        concurrency=32,
        timeout=600.0,
        sampling="All of OpenAI's, and its own in extra_body (top_k, repetition_penalty).",
        hint="A server that was started with --api-key needs a key variable. How many pictures a "
        "request may hold, --limit-mm-per-prompt says.",
        sources=(
            "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
            "https://docs.vllm.ai/en/latest/features/multimodal_inputs.html",
        ),
    ),
    Preset(
        name="sglang",
        title="SGLang",
        address="http://127.0.0.1:30000/v1",
        key_env=None,
        port=30000,
        pictures=_LOCAL,
        concurrency=32,
        timeout=600.0,
        sampling="All of OpenAI's, and its own in extra_body (top_k, regex).",
        sources=(
            "https://docs.sglang.ai/basic_usage/openai_api_vision.html",
            "https://docs.sglang.ai/advanced_features/structured_outputs.html",
        ),
    ),
    Preset(
        name="ollama",
        title="Ollama",
        address="http://127.0.0.1:11434/v1",
        key_env=None,
        port=11434,
        pictures=_LOCAL,
        concurrency=1,
        timeout=600.0,
        sampling="temperature, top_p, seed, max_tokens and, for models that think, "
        "reasoning_effort; unknown fields are ignored.",
        hint="It cuts long requests without a word: start it with OLLAMA_CONTEXT_LENGTH=16384 or "
        "more. It answers one request at a time unless OLLAMA_NUM_PARALLEL says otherwise.",
        sources=(
            "https://docs.ollama.com/api/openai-compatibility",
            "https://docs.ollama.com/faq",
        ),
    ),
    Preset(
        name="lm-studio",
        title="LM Studio",
        address="http://127.0.0.1:1234/v1",
        key_env=None,
        port=1234,
        pictures=_LOCAL,
        concurrency=1,
        timeout=600.0,
        sampling="temperature, top_p, seed, max_tokens; response_format json_schema or text, no "
        "json_object.",
        hint="Set the model's context length to 16384 or more when you load it.",
        sources=(
            "https://lmstudio.ai/docs/developer/openai-compat",
            "https://lmstudio.ai/docs/developer/openai-compat/structured-output",
        ),
    ),
    Preset(
        name="llama.cpp",
        title="llama.cpp",
        address="http://127.0.0.1:8080/v1",
        key_env=None,
        port=8080,
        pictures=_LOCAL,
        concurrency=1,
        timeout=600.0,
        sampling="All of OpenAI's, and its own in extra_body (min_p, grammar). It takes any model "
        "name.",
        hint="Start llama-server with --mmproj for pictures, -c for the context, and -np for "
        "several requests at a time.",
        sources=(
            "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
            "https://github.com/ggml-org/llama.cpp/blob/master/docs/multimodal.md",
        ),
    ),
    Preset(
        name="litellm",
        title="LiteLLM proxy",
        address="http://127.0.0.1:4000/v1",
        key_env="LITELLM_API_KEY",
        port=4000,
        timeout=300.0,
        sampling="Whatever the model behind it takes; the rest is refused, unless the proxy is "
        "set to drop_params.",
        hint="The model is called as the proxy's config names it.",
        sources=(
            "https://docs.litellm.ai/docs/proxy/user_keys",
            "https://docs.litellm.ai/docs/completion/drop_params",
        ),
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _ALL})
"""All presets by name."""
