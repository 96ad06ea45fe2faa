"""Who may talk to the page: Host, Origin and token checks, and the headers of every answer."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
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


class Guard:
    """Refuses requests whose headers do not pass a check."""

    def __init__(
        self, app: ASGIApp, *, passes: Callable[[Headers], bool], status: int, message: str
    ) -> None:
        self._app = app
        self._passes = passes
        self._refusal = JSONResponse({"error": message}, status_code=status)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        known = scope["type"] == "lifespan" or self._passes(Headers(scope=scope))
        await (self._app if known else self._refusal)(scope, receive, send)


def known_host(hosts: Collection[str]) -> Middleware:
    """Refuse requests to another Host, as a rebound DNS name sends them."""

    def passes(headers: Headers) -> bool:
        given = headers.getlist("host")
        return len(given) == 1 and given[0].lower() in hosts

    message = "The page has another address; open the link as it was printed."
    return Middleware(Guard, passes=passes, status=421, message=message)


def own_origin() -> Middleware:
    """Refuse requests that a page of another site sends, by what no script can set."""

    def passes(headers: Headers) -> bool:
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site in ("same-origin", "none")
        # Browsers leave that header out for plain HTTP on a network.
        origin = headers.get("origin")
        return origin is None or origin.partition("://")[2] == headers.get("host")

    message = "Requests of other sites are refused; use the page itself."
    return Middleware(Guard, passes=passes, status=403, message=message)


def bearer_token(token: str) -> Middleware:
    """Refuse requests without the token."""
    expected = f"Bearer {token}".encode()

    def passes(headers: Headers) -> bool:
        return secrets.compare_digest(headers.get("authorization", "").encode(), expected)

    message = "The token is missing or wrong; open the link as it was printed."
    return Middleware(Guard, passes=passes, status=401, message=message)
