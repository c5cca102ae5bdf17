"""What only this server can make: digests that say nothing without its key, and the signature on a release's card."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpgp_core.release.json_text import read_object

ALGORITHM = "HMAC-SHA256"
_LEAST_BYTES = 32


@dataclass(frozen=True)
class Key:
    """A secret of this server, or of all that share their ledgers.

    Args:
        secret: 32 random bytes or more.
    """

    secret: bytes = field(repr=False)

    @classmethod
    def read(cls, text: str) -> Key:
        """From hexadecimal digits. Raises ValueError unless there are 64 or more; what they are is not repeated."""
        secret = bytes.fromhex(text.strip())
        if len(secret) < _LEAST_BYTES:
            raise ValueError(f"a key has at least {_LEAST_BYTES} bytes, got {len(secret)}")
        return cls(secret)

    def digest(self, kind: str, text: str) -> str:
        """HMAC-SHA256 of a text, apart for every kind: who reads it can neither guess nor check what it is of."""
        return hmac.new(self.secret, f"{kind}\0{text}".encode(), "sha256").hexdigest()

    def signed(self, card: Mapping[str, Any]) -> dict[str, Any]:
        """A card with this server's signature under all that it says."""
        return {**card, "signature": {"algorithm": ALGORITHM, "value": self._signature(card)}}

    def believed(self, content: bytes) -> dict[str, Any]:
        """A card that was signed with this key, as it was.

        Raises:
            ValueError: it is no card, was signed by nobody or another server, or changed after that.
        """
        card = read_object(content, "release.json")
        signature = card.pop("signature", None)
        value = signature.get("value") if isinstance(signature, dict) else None
        if not isinstance(value, str) or not value.isascii() or not hmac.compare_digest(value, self._signature(card)):
            raise ValueError(
                "that release.json is not as this server signed it, so what it counts is not believed. Use the file "
                "as it was downloaded here, or the token of its ledger"
            )
        return card

    def _signature(self, card: Mapping[str, Any]) -> str:
        plain = {name: value for name, value in card.items() if name != "signature"}
        return self.digest("card", json.dumps(plain, sort_keys=True, ensure_ascii=True, allow_nan=False))
