"""The two base classes of everything that crosses a border: values and events."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable value object; an unknown field is an error, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class Event(Value):
    """A fact of the domain: `type` is `<entity>.<past participle>`, `v` its schema version."""

    type: ClassVar[str]
    v: ClassVar[int] = 1

    @classmethod
    def entity(cls) -> str:
        """The entity this event belongs to: the part of `type` before the dot."""
        return cls.type.partition(".")[0]
