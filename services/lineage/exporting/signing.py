"""The installation's signature: an Ed25519 key that is derived and never stored."""

import hashlib
import hmac
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


class Signature(NamedTuple):
    public_key: str
    fingerprint: str
    signature: str


def sign(secret: bytes, content: bytes) -> Signature:
    """Sign with the key of this installation; `secret` is the platform's `sign` key."""
    key = _key(secret)
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return Signature(public.hex(), fingerprint(public), key.sign(content).hex())


def fingerprint(public: bytes) -> str:
    """What a person compares: the SHA-256 of the public key."""
    return hashlib.sha256(public).hexdigest()


def fingerprint_of(secret: bytes) -> str:
    """The fingerprint of this installation, for `kadath doctor` and the one who verifies."""
    public = _key(secret).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return fingerprint(public)


def _key(secret: bytes) -> Ed25519PrivateKey:
    seed = hmac.new(secret, b"kadath export signature", hashlib.sha256).digest()
    return Ed25519PrivateKey.from_private_bytes(seed)
