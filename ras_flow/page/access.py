"""Who may talk to the page: Host, Origin and token checks, and the headers of every answer."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)

_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class SecureHeaders:
    """Adds the security headers to every answer."""

    def __init__(self, app: ASGIApp, *, cache: str) -> None:
        self._app = app
        self._headers = _HEADERS | {"Cache-Control": cache}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class KnownHost:
    """Refuses requests to another Host, as a rebound DNS name sends them."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        hosts = Headers(scope=scope).getlist("host")
        if len(hosts) == 1 and hosts[0].lower() in self._hosts:
            await self._app(scope, receive, send)
        else:
            message = "The page has another address; open the link as it was printed."
            await _refuse(421, message)(scope, receive, send)


class OwnOrigin:
    """Refuses requests that a page of another site sends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if _is_own(Headers(scope=scope)):
            await self._app(scope, receive, send)
        else:
            message = "Requests of other sites are refused; use the page itself."
            await _refuse(403, message)(scope, receive, send)


class BearerToken:
    """Refuses requests without the token."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        given = Headers(scope=scope).get("authorization", "")
        if secrets.compare_digest(given.encode(), self._expected):
            await self._app(scope, receive, send)
        else:
            message = "The token is missing or wrong; open the link as it was printed."
            await _refuse(401, message)(scope, receive, send)


def new_token() -> str:
    """Return a fresh random token of 256 bits, safe in an address."""
    return secrets.token_urlsafe(32)


def _is_own(headers: Headers) -> bool:
    """Tell by what no script can set whether a page of ours, or no page at all, sends this."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    # Browsers leave that header out for plain HTTP on a network.
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == headers.get("host")


def _refuse(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status)
