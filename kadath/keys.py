"""Secrets made at first start, owner-only: NATS users, database roles, signing keys."""

import base64
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import nkeys

from services.kit.streams import all_users

ROLES = ("lineage", "broker")


@dataclass(frozen=True)
class Keys:
    """`nkeys`: user -> seed; `public`: user -> public key; `passwords`: role -> password."""

    nkeys: dict[str, str]
    public: dict[str, str]
    passwords: dict[str, str]
    secret: dict[str, bytes]


def load(folder: Path) -> Keys:
    """Read the keys of an installation, making them when they are not there."""
    path = folder / "keys.json"
    if not path.exists():
        _write(path, _fresh())
    found = json.loads(path.read_text())
    return Keys(
        nkeys=found["nkeys"],
        public={user: _public(seed) for user, seed in found["nkeys"].items()},
        passwords=found["passwords"],
        secret={name: base64.b64decode(text) for name, text in found["secret"].items()},
    )


def _fresh() -> dict[str, object]:
    return {
        "nkeys": {user: _seed() for user in all_users()},
        "passwords": {role: secrets.token_urlsafe(24) for role in ("postgres", *ROLES)},
        "secret": {
            name: base64.b64encode(secrets.token_bytes(32)).decode() for name in ("grants", "sign")
        },
    }


def _seed() -> str:
    return bytes(nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)).decode()


def _public(seed: str) -> str:
    return str(nkeys.from_seed(seed.encode()).public_key.decode())


def _write(path: Path, content: dict[str, object]) -> None:
    temporary = path.with_suffix(".tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file)
    os.replace(temporary, path)
