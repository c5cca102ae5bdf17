"""The token in a cookie by which a browser is recognised."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

COOKIE = "dpgp_session"
SECURE_COOKIE = f"__Host-{COOKIE}"  # with https a browser accepts this cookie only from this host, and never over http
WARM_UP = "house-"  # prefix of the sessions of the server's own visits
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22,64}")  # 22 characters of 6 bits hold 128 random bits


def well_formed(token: str | None) -> bool:
    """Return whether a cookie's value could be a token: 22 to 64 letters, digits, ``-`` or ``_``."""
    return token is not None and _TOKEN.fullmatch(token) is not None


def fresh(proposed: str | None = None) -> str:
    """Return a token for a new browser: ``proposed`` if it is well formed, otherwise 192 random bits."""
    return proposed if proposed is not None and well_formed(proposed) else secrets.token_urlsafe(24)


def token_in(cookies: Mapping[str, str], secure: bool) -> str | None:
    """Return the token that a browser sent; None if it sent none.

    Args:
        cookies: cookies by name.
        secure: whether the request came by https. A cookie that another host could have set is then ignored.
    """
    token = cookies.get(SECURE_COOKIE if secure else COOKIE)
    return token if well_formed(token) else None


def known_by(cookies: Mapping[str, str]) -> str | None:
    """Return the token if it is not known how the request came; the first cookie is sent by https only."""
    return token_in(cookies, secure=True) or token_in(cookies, secure=False)


def is_warm_up(owner: object) -> bool:
    """Return whether a task belongs to one of the server's own visits, which give way to all others."""
    return isinstance(owner, str) and owner.startswith(WARM_UP)
