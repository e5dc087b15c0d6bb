"""A mutation applied to a parent's tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import digest
from schemas.events.genome import Change
from schemas.values.mutation import MAX_CONTENT_BYTES, MAX_PROMPT_BYTES, FileEdit, Mutation
from schemas.values.tree import Tree, TreeFile
from services.lineage.core.mutation_rules import Applied, Refusal, apply

FILES = {
    "SYSTEM_PROMPT.md": "You work.\n",
    "docs/notes.md": "notes\n",
    "organism.py": "print(1)\n",
    "pkg/tool.py": "x = 1\n",
    "solver.py": "VALUE = 1\n",
}
PARENT = Tree(
    files=tuple(
        TreeFile(path=path, size=len(text), sha256=digest(text.encode()))
        for path, text in FILES.items()
    )
)


def mutate(
    files: dict[str, str] | None = None, delete: tuple[str, ...] = (), prompt: str | None = None
) -> Applied | Refusal:
    edits = tuple(FileEdit(path=path, text=text) for path, text in (files or {}).items())
    return apply(PARENT, Mutation(action="mutate", files=edits, delete=delete, prompt=prompt))


def test_files_are_written_added_and_deleted_and_the_rest_stays() -> None:
    """The result is the complete tree, sorted, with what changed."""
    applied = mutate({"solver.py": "VALUE = 2\n", "new.py": "y"}, delete=("pkg/tool.py",))
    assert isinstance(applied, Applied)
    assert [file.path for file in applied.tree.files] == [
        "SYSTEM_PROMPT.md", "docs/notes.md", "new.py", "organism.py", "solver.py",
    ]  # fmt: skip
    assert applied.changed == (
        Change(path="new.py", change="added", size=1),
        Change(path="pkg/tool.py", change="deleted", size=0),
        Change(path="solver.py", change="modified", size=10),
    )
    assert set(applied.contents.values()) == {b"VALUE = 2\n", b"y"}
    assert applied.touches_code


def test_prompt_replaces_the_system_prompt_and_is_no_code() -> None:
    """Prose is committed without a trial."""
    applied = mutate({"docs/more.md": "m"}, prompt="Think.\n")
    assert isinstance(applied, Applied)
    assert not applied.touches_code
    prompt = next(file for file in applied.tree.files if file.path == "SYSTEM_PROMPT.md")
    assert prompt.sha256 == digest(b"Think.\n")


def test_a_folder_may_become_a_file_when_all_of_it_is_deleted() -> None:
    assert isinstance(mutate({"pkg": "now a file"}, delete=("pkg/tool.py",)), Applied)


NO = {
    "same text": (dict(files={"solver.py": "VALUE = 1\n"}), "no_change"),
    "nothing": ({}, "no_change"),
    "deleting what is not there": (dict(delete=("gone.py",)), "no_change"),
    "same prompt": (dict(prompt="You work.\n"), "no_change"),
    "outside": (dict(files={"../x": ""}), "unsafe_path"),
    "deleting outside": (dict(delete=("/etc/passwd",)), "unsafe_path"),
    "a file where a folder is": (dict(files={"pkg": ""}), "unsafe_path"),
    "a folder where a file is": (dict(files={"organism.py/x": ""}), "unsafe_path"),
    "a folder and a file at once": (dict(files={"n": "", "n/m": ""}), "unsafe_path"),
    "deleting a folder": (dict(delete=("pkg",)), "unsafe_path"),
    "deleting the entry": (dict(delete=("organism.py",)), "invalid"),
    "deleting the prompt": (dict(delete=("SYSTEM_PROMPT.md",)), "invalid"),
    "blank prompt": (dict(prompt=" \n"), "invalid"),
    "blank prompt file": (dict(files={"SYSTEM_PROMPT.md": ""}), "invalid"),
    "prompt twice": (dict(files={"SYSTEM_PROMPT.md": "a"}, prompt="b"), "invalid"),
    "written and deleted": (dict(files={"solver.py": "a"}, delete=("solver.py",)), "invalid"),
    "surrogate in a text": (dict(files={"solver.py": "\ud800"}), "invalid"),
    "too many operations": (dict(delete=tuple(f"f{n}" for n in range(513))), "too_large"),
    "too long paths": (dict(delete=tuple(f"{n}" * 200 for n in range(100))), "too_large"),
    "too much content": (dict(files={"a": "x" * (MAX_CONTENT_BYTES + 1)}), "too_large"),
    "too long a prompt": (dict(prompt="x" * (MAX_PROMPT_BYTES + 1)), "too_large"),
}


@pytest.mark.parametrize(("arguments", "reason"), NO.values(), ids=NO.keys())
def test_every_violation_is_a_reason(arguments: dict[str, object], reason: str) -> None:
    refused = mutate(**arguments)  # type: ignore[arg-type]
    assert isinstance(refused, Refusal)
    assert refused.reason == reason
    refused.detail.encode()


def test_a_path_written_twice_is_invalid() -> None:
    edits = (FileEdit(path="a", text="1"), FileEdit(path="a", text="2"))
    refused = apply(PARENT, Mutation(action="mutate", files=edits))
    assert isinstance(refused, Refusal)
    assert refused.reason == "invalid"


TEXT = st.text(max_size=12)


@given(st.dictionaries(TEXT, TEXT, max_size=4), st.lists(TEXT, max_size=3), st.none() | TEXT)
def test_any_mutation_is_applied_or_refused_never_an_error(
    files: dict[str, str], delete: list[str], prompt: str | None
) -> None:
    """And an applied one always has the entry, a prompt, and no file inside a file."""
    result = mutate(files, tuple(delete), prompt)
    if isinstance(result, Applied):
        names = {file.path for file in result.tree.files}
        assert {"organism.py", "SYSTEM_PROMPT.md"} <= names
        assert not any("/".join(n.split("/")[:-1]) in names for n in names if "/" in n)
