"""The contract of KADATH: events, values, ids, subjects. Imports pydantic and nothing else.

from schemas import CATALOGUE, decode
envelope = decode(message_body, CATALOGUE)
"""

from schemas.base import Event, Value
from schemas.canonical import canonical, digest, ref_of, rows
from schemas.envelope import Actor, Draft, Envelope, Recorded, decode, encode
from schemas.events import CATALOGUE, OWNER, SERVICES
from schemas.refs import BlobRef, GenomeRef, SecretRef, TreeRef

__all__ = [
    "CATALOGUE",
    "OWNER",
    "SERVICES",
    "Actor",
    "BlobRef",
    "Draft",
    "Envelope",
    "Event",
    "GenomeRef",
    "Recorded",
    "SecretRef",
    "TreeRef",
    "Value",
    "canonical",
    "decode",
    "digest",
    "encode",
    "ref_of",
    "rows",
]
