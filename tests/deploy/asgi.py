"""One request to an application, without a server."""

from __future__ import annotations

import asyncio
from typing import Any


def answered(
    app: Any,
    path: str,
    headers: list[tuple[bytes, bytes]],
    kind: str = "http",
    method: str = "GET",
    scheme: str = "http",
) -> list[Any]:
    """All messages that an application sends when it is asked for a path, or to open a WebSocket there."""
    scope: dict[str, Any] = {"type": kind, "path": path, "headers": headers, "query_string": b"", "scheme": scheme}
    opening = {"subprotocols": [], "extensions": {"websocket.http.response": {}}}
    sent = []

    async def receive() -> dict[str, str]:
        return {"type": "http.request" if kind == "http" else "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope | ({"method": method} if kind == "http" else opening), receive, send))
    return sent
