"""Content by its hash: complete or absent, checked when read."""

import asyncio
import hashlib
from pathlib import Path

import pytest

from services.kit import trees
from services.kit.blobs import DamagedBlob, FileBlobs, MissingBlob


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("size", [0, 10, (1 << 20) + 1])
def test_what_was_put_can_be_read(tmp_path: Path, durable: bool, size: int):
    """Twice the same content is stored once."""
    blobs = FileBlobs(tmp_path, durable)
    content = b"x" * size
    ref = asyncio.run(blobs.put(content))
    assert (ref.sha256, ref.size) == (sha(content), size)
    assert asyncio.run(blobs.put(content)) == ref
    assert blobs.get(ref) == content
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == [ref.sha256]


def test_a_lost_blob_and_a_damaged_one_have_names(tmp_path: Path):
    """A flipped byte is not handed out."""
    blobs = FileBlobs(tmp_path)
    with pytest.raises(MissingBlob):
        blobs.read(sha(b"never"))
    ref = asyncio.run(blobs.put(b"true"))
    blobs.path(ref.sha256).write_bytes(b"trve")
    with pytest.raises(DamagedBlob):
        blobs.get(ref)


def test_a_frozen_file_is_adopted_once(tmp_path: Path):
    """It leaves the spool either way, and everybody may read it."""
    blobs = FileBlobs(tmp_path / "blobs")
    for name in ("one", "two"):
        spooled = tmp_path / name
        spooled.write_bytes(b"evidence")
        spooled.chmod(0o600)
        asyncio.run(blobs.adopt(spooled, sha(b"evidence")))
        assert not spooled.exists()
    path = blobs.path(sha(b"evidence"))
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"evidence", 0o644)


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "sub" / "__pycache__").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "sub" / "b.txt").write_text("b")
    (folder / "sub" / "__pycache__" / "c.pyc").write_text("c")
    (folder / "link").symlink_to("/etc/passwd")
    return folder


def test_a_folder_becomes_a_tree_without_links_and_caches(tmp_path: Path):
    """In the order of its paths."""
    blobs = FileBlobs(tmp_path / "blobs")
    ref, tree = asyncio.run(trees.put_folder(blobs, folder_of(tmp_path)))
    assert [file.path for file in tree.files] == ["a.txt", "sub/b.txt"]
    assert trees.get_tree(blobs, ref.sha256) == tree


def test_a_tree_is_laid_out_once_with_its_modes(tmp_path: Path):
    """Plain files are links to the blobs; an executable one is a copy, since links share a mode."""
    blobs = FileBlobs(tmp_path / "blobs")
    _, tree = asyncio.run(trees.put_folder(blobs, folder_of(tmp_path)))
    first, second = tree.files
    marked = tree.model_copy(
        update={"files": (first, second.model_copy(update={"executable": True}))}
    )
    ref = asyncio.run(trees.put_tree(blobs, marked))
    out = trees.lay_out(blobs, ref.sha256, tmp_path / "cache")
    assert trees.lay_out(blobs, ref.sha256, tmp_path / "cache") == out
    assert (out / "a.txt").samefile(blobs.path(first.sha256))
    assert (out / "sub" / "b.txt").stat().st_mode & 0o777 == 0o755
    assert blobs.path(second.sha256).stat().st_mode & 0o777 == 0o644
    assert [p.name for p in (tmp_path / "cache").iterdir()] == [ref.sha256]


def test_where_links_cannot_be_made_files_are_copied(tmp_path: Path):
    """Such as onto another file system."""
    other = Path("/dev/shm")
    if other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("/dev/shm is the file system of the temporary folder")
    blobs = FileBlobs(tmp_path / "blobs")
    ref, _ = asyncio.run(trees.put_files(blobs, {"a.txt": b"a"}))
    cache = other / f"kadath-test-{tmp_path.name}"
    try:
        out = trees.lay_out(blobs, ref.sha256, cache)
        assert (out / "a.txt").read_bytes() == b"a"
    finally:
        import shutil

        shutil.rmtree(cache)


def test_two_that_lay_out_the_same_tree_get_the_same_folder(tmp_path: Path):
    """Whoever is later throws its own away."""
    blobs = FileBlobs(tmp_path / "blobs")
    ref, _ = asyncio.run(trees.put_files(blobs, {"a.txt": b"a"}))

    async def both() -> list[Path]:
        work = (
            asyncio.to_thread(trees.lay_out, blobs, ref.sha256, tmp_path / "cache")
            for _ in range(8)
        )
        return await asyncio.gather(*work)

    assert len(set(asyncio.run(both()))) == 1
    assert [p.name for p in (tmp_path / "cache").iterdir()] == [ref.sha256]
