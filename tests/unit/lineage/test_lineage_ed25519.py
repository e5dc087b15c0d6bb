"""The auditor's own Ed25519 agrees with a known vector and with the library that signs."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kadath.audit.ed25519 import verify
from services.lineage.exporting.signing import sign

# RFC 8032, 7.1, test 2
PUBLIC = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
SIGNATURE = (
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def test_the_published_vector_verifies() -> None:
    assert verify(bytes.fromhex(PUBLIC), b"\x72", bytes.fromhex(SIGNATURE))
    assert not verify(bytes.fromhex(PUBLIC), b"\x73", bytes.fromhex(SIGNATURE))


@settings(max_examples=10, deadline=None)
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=100), st.integers(0, 511))
def test_what_the_library_signs_verifies_until_one_bit_differs(
    secret: bytes, message: bytes, bit: int
) -> None:
    made = sign(secret, message)
    public, signature = bytes.fromhex(made.public_key), bytearray.fromhex(made.signature)
    assert verify(public, message, bytes(signature))
    signature[bit // 8] ^= 1 << (bit % 8)
    assert not verify(public, message, bytes(signature))
