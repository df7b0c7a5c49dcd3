"""A backend for OpenRouter and any OpenAI-compatible endpoint (local servers included), over httpx (DESIGN 7.6).

Rules of this file:

* Only the instruction and our prompt leave the machine: no tool output, no history, no settings.
* The key goes to the endpoint it belongs to: the variable of OpenRouter's key is read for OpenRouter alone, and a
  redirect to another origin is refused, not followed.
* Time and size are bounded whatever the server does. Every fault leaves as `CompilerError`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agentsfence_compiler.backends.deadline import FinalError, within
from agentsfence_compiler.backends.prompt import PROMPT_VERSION, Prompt, prompt_for, read_answer
from agentsfence_compiler.draft import draft_schema
from agentsfence_core.errors import CompilerError
from agentsfence_core.limits import LIMITS
from agentsfence_core.ports import CompileContext, Instruction

if TYPE_CHECKING:
    import httpx

OPENROUTER = "https://openrouter.ai/api/v1"
OPENROUTER_KEY = "OPENROUTER_API_KEY"
MODEL = "openrouter/auto"
TIMEOUT = 20.0  # seconds for one draft, retries of the mode included
MODES = ("json_schema", "json_object", "plain")
"""Ways of asking for JSON, strictest first; an endpoint that refuses one is asked the next way."""

_REFUSED_MODE = frozenset({400, 404, 415, 422, 501})
_REDIRECTS = 3


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask, as the settings say."""

    base_url: str
    model: str
    key: str
    timeout: float

    @property
    def url(self) -> str:
        """The address of the chat completions."""
        return f"{self.base_url.rstrip('/')}/chat/completions"


class ChatBackend:
    """Drafts with a chat model."""

    def __init__(
        self, environ: Mapping[str, str] | None = None, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._environ = environ or {}
        self._transport = transport
        self._modes: dict[tuple[str, str], int] = {}

    def draft(self, instruction: Instruction, context: CompileContext, error: str | None) -> object:
        """Return what the model drafts, as parsed JSON; text that is no JSON is returned as it is: a fault."""
        endpoint = endpoint_of(context.compiler_settings, self._environ)
        prompt = prompt_for(instruction, error)
        text = within(endpoint.timeout, lambda: self._ask(endpoint, prompt), "the compiler's model")
        return read_answer(text)

    def _ask(self, endpoint: Endpoint, prompt: Prompt) -> str:
        import httpx  # noqa: PLC0415  (lazy: start-up budget, DESIGN 13)

        known = (endpoint.base_url, endpoint.model)
        try:
            with httpx.Client(timeout=endpoint.timeout, transport=self._transport) as client:
                for mode in range(self._modes.get(known, 0), len(MODES)):
                    status, body = _post(client, endpoint, _body(endpoint, prompt, MODES[mode]))
                    if status in _REFUSED_MODE and mode + 1 < len(MODES):
                        continue
                    _require_success(status)
                    self._modes[known] = mode
                    return _content(body)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, UnicodeError, ValueError) as fault:
            raise FinalError(
                f"the compiler's endpoint cannot be asked: {type(fault).__name__}", hint="see compiler.base_url"
            ) from fault
        raise FinalError("the compiler's endpoint refuses every way of asking")


def endpoint_of(settings: Mapping[str, object], environ: Mapping[str, str]) -> Endpoint:
    """Return the endpoint that settings and environment describe; raise where OpenRouter's key is missing."""
    base_url = str(settings.get("base_url") or OPENROUTER)
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise FinalError("compiler.base_url is no http address", hint="for example http://localhost:11434/v1")
    open_router = parts.hostname == "openrouter.ai"
    variable = str(settings.get("api_key_env") or (OPENROUTER_KEY if open_router else ""))
    key = str(settings.get("api_key") or (environ.get(variable, "") if variable else ""))
    if open_router and not key:
        raise FinalError("there is no key for OpenRouter", hint=f"set {OPENROUTER_KEY}, or compiler.name: rules")
    timeout = settings.get("timeout") or settings.get("timeout_seconds")
    seconds = float(timeout) if isinstance(timeout, int | float) and timeout > 0 else TIMEOUT
    return Endpoint(base_url, str(settings.get("model") or MODEL), key, seconds)


def _body(endpoint: Endpoint, prompt: Prompt, mode: str) -> dict[str, object]:
    body: dict[str, object] = {
        "model": endpoint.model,
        "temperature": 0,
        "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
    }
    if mode == "json_schema":
        schema = {"name": f"policy_draft_{PROMPT_VERSION}", "schema": draft_schema()}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif mode == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def _post(client: httpx.Client, endpoint: Endpoint, body: Mapping[str, object]) -> tuple[int, bytes]:
    """Return status and body, read no further than the limit; redirects only within the same origin."""
    url = endpoint.url
    headers = {"accept": "application/json", **({"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {})}
    for _ in range(_REDIRECTS + 1):
        with client.stream("POST", url, json=body, headers=headers) as response:
            if response.is_redirect:
                url = _same_origin(url, str(response.url.join(response.headers.get("location", ""))))
                continue
            read = bytearray()
            for chunk in response.iter_bytes():
                read += chunk
                if len(read) > LIMITS.draft_bytes:
                    raise FinalError("the compiler's model answered too much")
            return response.status_code, bytes(read)
    raise FinalError("the compiler's endpoint redirects in circles")


def _same_origin(url: str, target: str) -> str:
    """Return the target of a redirect if neither the words nor the key would reach anybody else."""
    before, after = urlsplit(url), urlsplit(target)
    upgraded = (before.scheme, after.scheme) == ("http", "https")
    if before.hostname != after.hostname or not (
        (before.netloc == after.netloc and before.scheme == after.scheme) or upgraded
    ):
        raise FinalError(
            "the compiler's endpoint redirects to another server", hint="set compiler.base_url to the final address"
        )
    return target


def _require_success(status: int) -> None:
    if 200 <= status < 300:
        return
    hints = {
        401: "the key is refused",
        402: "the account has no credit",
        403: "the key is refused",
        429: "too many requests: try again later",
    }
    raise FinalError(f"the compiler's endpoint answers {status}", hint=hints.get(status, ""))


def _content(body: bytes) -> str:
    """Return the text of the first choice; a refusal or a foreign shape is a fault."""
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        raise CompilerError("the endpoint's answer is no JSON") from None
    choice = _first(_get(answer, "choices"))
    message = _get(choice, "message")
    content = _get(message, "content")
    if isinstance(content, list):
        content = "".join(str(_get(part, "text") or "") for part in content)
    if _get(message, "refusal") or not isinstance(content, str) or not content.strip():
        raise FinalError("the compiler's model gave no answer")
    return content


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else None
