"""The token in a cookie by which a browser is known again."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

COOKIE = "dpgp_session"
SECURE_COOKIE = f"__Host-{COOKIE}"  # by https: a browser takes it from this host only, and from no page sent by http
WARM_UP = "house-"  # prefix of the sessions of the server's own visits
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22,64}")  # 22 characters of 6 bits hold 128 random bits


def well_formed(token: str | None) -> bool:
    """Whether a cookie's value could be a token: 22 to 64 letters, digits, ``-`` or ``_``."""
    return token is not None and _TOKEN.fullmatch(token) is not None


def fresh(proposed: str | None = None) -> str:
    """A token for a browser that has none: ``proposed`` if it is well formed, else 192 random bits."""
    return proposed if proposed is not None and well_formed(proposed) else secrets.token_urlsafe(24)


def token_in(cookies: Mapping[str, str], secure: bool) -> str | None:
    """The token that a browser sent; None if it sent none.

    Args:
        cookies: by name.
        secure: it came by https: a cookie that another host could have set counts for nothing then.
    """
    token = cookies.get(SECURE_COOKIE if secure else COOKIE)
    return token if well_formed(token) else None


def known_by(cookies: Mapping[str, str]) -> str | None:
    """The same where it is not known how it came: the first cookie comes by https only."""
    return token_in(cookies, secure=True) or token_in(cookies, secure=False)


def is_warm_up(owner: object) -> bool:
    """Whether the owner of a task is one of the server's own visits, which give way to everybody else."""
    return isinstance(owner, str) and owner.startswith(WARM_UP)
