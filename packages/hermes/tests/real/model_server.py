"""A model on the loopback: it answers as an OpenAI-compatible server does, from a script or a function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = dict[str, Any]
"""``{"text": …}`` or ``{"tools": [(name, arguments), …]}``."""


def say(text: str) -> Answer:
    return {"text": text}


def use(*calls: tuple[str, object]) -> Answer:
    return {"tools": list(calls)}


class ModelServer:
    """Serves until it is closed; keeps every request."""

    def __init__(
        self, script: Iterable[Answer] = (), route: Callable[[dict[str, Any]], Answer | None] | None = None
    ) -> None:
        self.requests: list[dict[str, Any]] = []
        self._script = list(script)
        self._route = route
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

            def do_GET(self) -> None:
                models = {"object": "list", "data": [{"id": "loopback", "object": "model", "context_length": 200_000}]}
                self._send(200, json.dumps(models).encode(), "application/json")

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                if not self.path.endswith("/chat/completions"):
                    self._send(404, b"", "text/plain")
                    return
                events = b"".join(b"data: " + chunk + b"\n\n" for chunk in outer.chunks(body))
                if body.get("stream"):
                    self._send(200, events + b"data: [DONE]\n\n", "text/event-stream")
                else:
                    self._send(200, outer.whole(body), "application/json")

            def _send(self, status: int, body: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def chunks(self, body: dict[str, Any]) -> list[bytes]:
        if not body.get("stream"):
            return []
        number, answer = self._next(body)
        calls = _calls(number, answer)
        deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": answer.get("text")}, None)]
        deltas += [({"tool_calls": [{"index": place, **call}]}, None) for place, call in enumerate(calls)]
        deltas.append(({}, "tool_calls" if calls else "stop"))
        return [
            json.dumps(
                {
                    "id": f"c{number}",
                    "object": "chat.completion.chunk",
                    "created": 0,
                    "model": "loopback",
                    "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
                    **({"usage": _USAGE} if finish else {}),
                }
            ).encode()
            for delta, finish in deltas
        ]

    def whole(self, body: dict[str, Any]) -> bytes:
        number, answer = self._next(body)
        calls = _calls(number, answer)
        message = {"role": "assistant", "content": answer.get("text"), **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        return json.dumps(
            {
                "id": f"c{number}",
                "object": "chat.completion",
                "created": 0,
                "model": "loopback",
                "choices": [choice],
                "usage": _USAGE,
            }
        ).encode()

    def _next(self, body: dict[str, Any]) -> tuple[int, Answer]:
        with self._lock:
            self.requests.append(body)
            answer = self._route(body) if self._route else None
            if answer is None:
                answer = self._script.pop(0) if self._script else say("done")
            return len(self.requests), answer


_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def _calls(number: int, answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(answer.get("tools", ()))
    ]
