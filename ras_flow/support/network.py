"""What a computer's settings say of its network: certificates and proxies."""

from __future__ import annotations

import os
import ssl
from functools import cache
from importlib import import_module
from urllib.request import getproxies

import httpx

from ras_flow.errors import ConfigurationError, MissingExtraError

_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def check_network() -> None:
    """Check certificates and proxies, before a client fails in words of its own."""
    certificates()
    for kind in socks_proxies():
        try:
            import_module("socksio")
        except ImportError:
            raise MissingExtraError(
                f"{kind.upper()}_PROXY names a SOCKS proxy, which needs the package socksio: pip "
                "install 'httpx[socks]', or unset the variable."
            ) from None


@cache
def certificates() -> ssl.SSLContext:
    """Return what servers' certificates are checked with; read once, since the file is large."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        # httpx reads the first one alone.
        named = next((f"{it}={os.environ[it]}" for it in _VARIABLES if os.environ.get(it)), "")
        raise ConfigurationError(
            f"The certificates of {named or 'certifi'} cannot be read ({error}). "
            + ("Name a file that exists, or unset it." if named else "Install certifi again.")
        ) from error


def socks_proxies() -> list[str]:
    """Return which kinds of addresses go through a SOCKS proxy."""
    proxies = getproxies()
    if "*" in proxies.get("no", ""):
        return []
    return [kind for kind, address in proxies.items() if address.lower().startswith("socks")]
