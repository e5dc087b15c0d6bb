"""Limits, usage and the locked runtime of a run."""

from decimal import Decimal

from pydantic import Field

from schemas.base import Value
from schemas.refs import Sha256


class Limits(Value):
    """What one attempt may use. A backend says at preflight which of these it cannot enforce."""

    cpus: float = 1.0
    memory_mb: int = 2048
    pids: int = 256
    file_mb: int = 512
    state_mb: int = 256
    state_inodes: int = 16384
    tmp_mb: int = 64
    log_kb: int = 1024
    evidence_mb: int = 512
    restarts: int = 3
    passes: int = Field(
        default=0, description="0: until the deadline; else stop after so many passes"
    )
    steps: int = Field(default=12, description="model steps in one pass")


class Usage(Value):
    """Tokens of a model call; `cost` in USD, null when the model has no price."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    cost: Decimal | None = None


class Models(Value):
    """Model ids by role. `api_base` null: the provider that litellm finds by the id."""

    specialist: str
    organism: str
    api_base: str | None = None


class Budget(Value):
    """Caps on a whole run; null: no cap. `usd` needs a price for every model."""

    usd: Decimal | None = None
    tokens: int | None = None
    calls: int | None = None
    wall_seconds: int | None = None


class Runtime(Value):
    """The locked runtime. Holds no path, host name or core count: equal on every machine."""

    executor: str
    models: Models
    limits: Limits
    seed_sha: Sha256
    layer_sha: Sha256
    kernel_version: str
