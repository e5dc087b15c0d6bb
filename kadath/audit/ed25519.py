"""Ed25519 verification (RFC 8032) in plain Python: an auditor needs no further package.

Verification handles public values only, so it need not take constant time.
"""

import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]  # extended coordinates X, Y, Z, T


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """True when `signature` is `public`'s over `message`."""
    if len(public) != 32 or len(signature) != 64:
        return False
    key, commitment = _decompress(public), _decompress(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    return _equal(_multiply(scalar, BASE), _add(commitment, _multiply(challenge, key)))


def _add(p: Point, q: Point) -> Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _multiply(scalar: int, point: Point) -> Point:
    result: Point = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _equal(p: Point, q: Point) -> bool:
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


def _decompress(encoded: bytes) -> Point | None:
    y = int.from_bytes(encoded, "little")
    sign = y >> 255
    y &= (1 << 255) - 1
    x = _recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


def _recover_x(y: int, sign: int) -> int | None:
    if y >= P:
        return None
    squared = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(squared, (P + 3) // 8, P)
    if (x * x - squared) % P:
        x = x * SQRT_M1 % P
    if (x * x - squared) % P or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


def _base() -> Point:
    y = 4 * pow(5, P - 2, P) % P
    x = _recover_x(y, 0)
    assert x is not None
    return x, y, 1, x * y % P


BASE = _base()
