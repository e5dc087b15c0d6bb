"""Identity of genomes, git objects, and the chain over the log."""

from dulwich.index import commit_tree
from dulwich.object_store import MemoryObjectStore
from dulwich.objects import Blob

from services.lineage.core import chain
from services.lineage.core.genome import Entry, blob_id, git_commit, git_tree, identity

A, B, C = "a" * 40, "b" * 64, "c" * 64


def test_identity_is_made_of_tree_prompt_and_runtime_alone() -> None:
    """The value is pinned: changing it would make every old genome a stranger."""
    assert identity(A, B, C) == identity(A, B, C)
    assert len({identity(A, B, C), identity("d" * 40, B, C), identity(A, C, B)}) == 3
    assert identity(A, B, C) == PINNED


PINNED = "98d95466dce4ee11b7a2a792920600bf94f6f5985783ab30b313a98f75f67a22"


def test_trees_are_the_ones_git_would_write() -> None:
    """Folders sort as if they ended in a slash; the executable bit counts."""
    contents = {"a.py": b"1", "a/x": b"2", "a-b": b"3", "a/b/c": b"4", "z": b""}
    store = MemoryObjectStore()
    expected_entries = []
    for path, content in contents.items():
        blob = Blob.from_string(content)
        store.add_object(blob)
        mode = 0o100755 if path == "z" else 0o100644
        expected_entries.append((path.encode(), blob.id, mode))
    expected = commit_tree(store, expected_entries).decode()
    made = git_tree(Entry(p, blob_id(c), p == "z") for p, c in contents.items())
    assert made.id == expected
    assert {item.id for item in made.objects} <= {oid.decode() for oid in store}


def test_a_commit_has_no_time_and_no_machine() -> None:
    """Equal content, equal id, on every retry."""
    first = git_commit(A, "b" * 40, "birth b-e001-a0009-0")
    assert first == git_commit(A, "b" * 40, "birth b-e001-a0009-0")
    assert b" 0 +0000" in first.content
    assert first.id != git_commit(A, None, "birth b-e001-a0009-0").id


def test_the_chain_depends_on_every_body_and_on_their_order() -> None:
    heads = [chain.head_of(bodies) for bodies in ([], [b"1"], [b"1", b"2"], [b"2", b"1"], [b"12"])]
    assert len(set(heads)) == 5
    assert chain.extend(chain.head_of([b"1"]), b"2") == chain.head_of([b"1", b"2"])
