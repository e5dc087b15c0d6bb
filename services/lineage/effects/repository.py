"""A run's bare git repository: a picture of the log that can be drawn again at any time."""

import threading
from collections.abc import Iterable
from pathlib import Path

from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from services.lineage.core.genome import GitObject

SEED = "refs/heads/seed"
TYPES: dict[str, type[ShaFile]] = {"blob": Blob, "tree": Tree, "commit": Commit}
PACK_FROM = 12  # a pack is one file; loose objects are quicker for the few of one genome


class Repository:
    """Used from threads: one writer at a time; the objects it knows are written once."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._known: set[str] = set()
        path.mkdir(parents=True, exist_ok=True)
        new = not (path / "HEAD").exists()
        self._repo = Repo.init_bare(str(path)) if new else Repo(str(path))
        if new:
            self._repo.refs.set_symbolic_ref(Ref(b"HEAD"), Ref(SEED.encode()))

    def missing(self, ids: Iterable[str]) -> list[str]:
        """Those of `ids` that are not in the repository, each once."""
        with self._lock:
            return [oid for oid in dict.fromkeys(ids) if not self._has(oid)]

    def write(self, objects: Iterable[GitObject]) -> None:
        with self._lock:
            fresh = {item.id: item for item in objects if not self._has(item.id)}
            shas = [_sha_file(item) for item in fresh.values()]
            if len(shas) >= PACK_FROM:
                self._repo.object_store.add_objects([(sha, None) for sha in shas])
            else:
                for sha in shas:
                    self._repo.object_store.add_object(sha)
            self._known.update(fresh)

    def point(self, ref: str, commit: str) -> None:
        with self._lock:
            self._repo.refs[ref.encode()] = commit.encode()  # type: ignore[index,assignment]

    def close(self) -> None:
        self._repo.close()

    def _has(self, oid: str) -> bool:
        if oid in self._known:
            return True
        if self._repo.object_store.__contains__(ObjectID(oid.encode())):
            self._known.add(oid)
            return True
        return False


def _sha_file(item: GitObject) -> ShaFile:
    made = ShaFile.from_raw_string(TYPES[item.kind].type_num, item.content)
    assert made.id.decode() == item.id
    return made
