"""What is frozen after an attempt, and what is refused."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from services.sandbox.local import LocalContainers
from services.sandbox.port import Containers, Outcome, Spec
from tests.support.loop import go

Attempt = Callable[..., Outcome]

CHANGES = """
import os, shutil
os.remove('gone')
open('changed', 'a').write(' and new')
shutil.rmtree('folder'); os.mkdir('folder'); open('folder/two', 'w').write('again')
shutil.rmtree('was_folder'); open('was_folder', 'w').write('file now')
os.remove('was_file'); os.mkdir('was_file'); open('was_file/y', 'w').write('y')
os.makedirs('deep/er'); open('deep/er/new', 'w').write('new'); os.chmod('deep/er/new', 0o755)
"""
MARKS = {
    "changed": "modified",
    "folder/two": "modified",
    "was_folder": "new",
    "was_file/y": "new",
    "deep/er/new": "new",
}


def rejected(outcome: Outcome) -> dict[str, str]:
    assert outcome.frozen is not None
    return {row.path: row.reason for row in outcome.frozen.rejected}


def kept(outcome: Outcome) -> set[str]:
    assert outcome.frozen is not None
    return {file.path for file in outcome.frozen.files}


def test_files_come_back_with_their_bytes_under_their_hash(attempt: Attempt, home: Path) -> None:
    """The spool holds every frozen file by its SHA-256."""
    outcome = attempt(
        "open('candidate.json', 'w').write('42'); open('big', 'wb').write(b'x' * (3 << 20))"
    )
    assert outcome.frozen is not None
    assert [(file.path, file.size, file.mark) for file in outcome.frozen.files] == [
        ("big", 3 << 20, "new"),
        ("candidate.json", 2, "new"),
    ]
    for file in outcome.frozen.files:
        content = (home / "spool" / file.sha256).read_bytes()
        assert hashlib.sha256(content).hexdigest() == file.sha256 and len(content) == file.size
    assert not list((home / "spool").glob(".part*"))


@pytest.fixture(params=["overlay", "copy", "docker"])
def stateful(request: pytest.FixtureRequest, home: Path) -> Containers:
    """Every way to give an organism the state that it inherits."""
    if request.param == "docker":
        return request.getfixturevalue("docker")  # type: ignore[no-any-return]
    return LocalContainers(home / "other", overlay=None if request.param == "overlay" else False)


def test_marks_tell_new_from_modified_and_deletions_are_listed(
    stateful: Containers, spec: Callable[..., Spec], inherited: Path
) -> None:
    """The same by overlay and by copy; the inherited state itself is untouched."""
    outcome = go(stateful.run(spec(CHANGES, state=inherited)))
    assert (outcome.exit_code, outcome.log) == (0, b"")
    assert outcome.frozen is not None
    assert {file.path: file.mark for file in outcome.frozen.files} == MARKS
    assert outcome.frozen.deleted == ("folder/one", "gone", "was_file", "was_folder/x")
    assert [file.path for file in outcome.frozen.files if file.executable] == ["deep/er/new"]
    assert (inherited / "changed").read_text() == "old changed"


def test_an_untouched_state_freezes_to_nothing(attempt: Attempt, inherited: Path) -> None:
    """Reading leaves no trace."""
    outcome = attempt("import sys; sys.stdout.write(open('kept').read())", state=inherited)
    assert (outcome.stdout, outcome.frozen) == (b"old kept", type(outcome.frozen)())


def test_only_regular_files_are_kept(attempt: Attempt) -> None:
    """Links are not followed, pipes do not block, sockets and odd names are told escaped."""
    outcome = attempt(
        "import os, _socket\n"
        "os.symlink('/etc/shadow', 'result.json'); os.symlink('/', 'root')\n"
        "os.mkfifo('fifo'); _socket.socket(_socket.AF_UNIX).bind('socket')\n"
        "open(b'bad\\xff', 'w'); open('line\\nbreak', 'w')\n"
        "open('e\\u0301', 'w'); open('fine', 'w')\n"
        "os.mkdir('closed'); open('closed/in', 'w')\n"
        "os.chmod('closed/in', 0); os.chmod('closed', 0)"
    )
    assert rejected(outcome) == {
        "result.json": "symbolic link",
        "root": "symbolic link",
        "fifo": "fifo",
        "socket": "socket",
        "bad\\xff": "name is not UTF-8",
        "line\\nbreak": "control character in the name",
        "e\u0301": "name is not in Unicode's form NFC",
    }
    assert kept(outcome) == {"fine", "closed/in"}


def test_a_refused_file_does_not_bring_its_inherited_version_back(
    stateful: Containers, spec: Callable[..., Spec], inherited: Path
) -> None:
    """What was overwritten is gone, also when the new content is too large."""
    code = "open('kept', 'wb').write(b'x' * (3 << 20))"
    outcome = go(stateful.run(spec(code, state=inherited, limits={"evidence_mb": 2})))
    assert rejected(outcome) == {"kept": "over the limit of all evidence"}
    assert outcome.frozen is not None and outcome.frozen.deleted == ("kept",)


def test_a_link_over_an_inherited_file_deletes_it(attempt: Attempt, inherited: Path) -> None:
    """The link is refused, and the file that it replaced is gone."""
    outcome = attempt(
        "import os; os.remove('kept'); os.symlink('/etc/passwd', 'kept')", state=inherited
    )
    assert rejected(outcome) == {"kept": "symbolic link"}
    assert outcome.frozen is not None and outcome.frozen.deleted == ("kept",)


def test_a_tree_of_3000_levels_is_refused_once(attempt: Attempt) -> None:
    """Depth is cut without recursion, and what lies beside is kept."""
    outcome = attempt(
        "import os\nopen('beside', 'w')\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
    )
    assert list(rejected(outcome).values()) == ["too deep"]
    assert kept(outcome) == {"beside"}


def test_sparse_linked_and_large_files_cannot_fill_the_spool(attempt: Attempt, home: Path) -> None:
    """A hole is refused, hard links are stored once, the sum of all sizes is bounded."""
    outcome = attempt(
        "import os\nos.truncate(os.open('hole', 66), 60 << 20)\n"
        "open('a', 'wb').write(b'x' * (2 << 20))\nfor i in range(9): os.link('a', f'b{i}')",
        limits={"evidence_mb": 8},
    )
    assert kept(outcome) == {"a", "b0", "b1", "b2"}
    assert rejected(outcome)["hole"] == "sparse"
    assert rejected(outcome)["b8"] == "over the limit of all evidence"
    assert len(list((home / "spool").iterdir())) == 1


def test_devices_that_look_like_deletions_cannot_be_made(attempt: Attempt, inherited: Path) -> None:
    """A character device 0:0 is an overlay's deletion; an organism may not forge one."""
    code = (
        "import os, stat\n"
        "for kind in (stat.S_IFCHR, stat.S_IFBLK):\n"
        "    try: os.mknod('forged', kind | 0o600, 0)\n"
        "    except PermissionError: print('refused')"
    )
    for state in (None, inherited):
        assert attempt(code, state=state).stdout == b"refused\nrefused\n"
