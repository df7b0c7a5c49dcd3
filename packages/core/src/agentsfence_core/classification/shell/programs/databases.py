"""Database clients: their SQL is read by the SQL reader, their own escapes here."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word


def sql(call: Call, text: Word, dialect: str) -> None:
    """Add what SQL does."""
    try:
        from agentsfence_core.classification.sql import read_sql  # noqa: PLC0415  (lazy: sqlglot)
    except ImportError:  # pragma: no cover  (a partial installation: the statement stays unverified)
        call.unseen("SQL that cannot be read")
        return
    if text.sure:
        call.foreign(read_sql(text.text, dialect))
    else:
        call.unseen("computed SQL", "database.write")


_PSQL = Program(
    "database.read",
    options={
        Role.SCRIPT: "-c --command",
        Role.READ: "-f --file",
        Role.WRITE: "-o --output -L --log-file",
        Role.HOST: "-h --host",
        Role.TEXT: "-d --dbname -U --username -p --port -F --field-separator -P --pset -R --record-separator -T -v --set --variable",
    },
)


def _psql(call: Call, program: Program) -> None:
    """``psql -c`` reads SQL or a backslash command; ``-f`` and input are not seen; ``-l`` lists."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    seen = False
    for _, option, value in split.given:
        if value is None:
            continue
        if option.role is Role.SCRIPT:
            seen = True
            _psql_text(call, value)
        elif option.role is Role.READ:
            seen = True
            call.unseen("SQL from a file", "database.write")
            call.path("file.read", value)
        elif option.role is Role.WRITE:
            call.path("file.write", value)
        elif option.role is Role.HOST and not value.text.startswith("/"):
            call.host("database.read", value)
    if {"l", "list"} & set(split.strays):
        call.effect("database.read")
    elif not seen:
        _input(call, "postgres")


def _psql_text(call: Call, value: Word) -> None:
    if not value.text.lstrip().startswith("\\"):
        if "\\!" in value.text or "\\copy" in value.text or "\\gexec" in value.text:
            call.unseen("a client escape runs a program")
        sql(call, value, "postgres")
        return
    text = value.text.strip()
    if text.startswith("\\!"):
        call.unseen("a client escape runs a program")
        shell_line(call, Word(text[2:], value.sure))
    elif text.startswith("\\copy") and not text.startswith("\\copyright"):
        call.effect("file.write" if " to " in text.lower() else "database.write")
        if "program" in text.lower():
            call.unseen("\\copy runs a program")
    elif text.startswith(("\\o", "\\w", "\\g", "\\s")) and " " in text:
        call.path("file.write", Word(text.split()[1].lstrip("|"), value.sure))
        if "|" in text:
            call.unseen("output goes to a program")
    elif text.startswith(("\\i", "\\e", "\\lo_import", "\\setenv", "\\password", "\\gexec", "\\watch")):
        call.unseen("a client command brings in more", "database.write")
    else:
        call.effect("database.read")


def _input(call: Call, dialect: str) -> None:
    """SQL on standard input: read where the text shows it."""
    if call.stdin is not None:
        sql(call, Word(call.stdin), dialect)
    else:
        call.unseen("SQL that the text does not show", "database.write")


_MYSQL = Program(
    "database.read",
    options={
        Role.SCRIPT: "-e --execute",
        Role.HOST: "-h --host",
        Role.WRITE: "--tee",
        Role.RUN: "--pager",
        Role.UNSEEN: "--defaults-file --defaults-extra-file --init-command --plugin-dir",
        Role.TEXT: "-u --user -p? --password? -P --port -D --database -S --socket --default-character-set --protocol --ssl-mode",
    },
)


def _mysql(call: Call, program: Program) -> None:
    r"""``mysql -e`` reads SQL; ``\\!`` and ``system`` run programs."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    seen = False
    for _, option, value in split.given:
        if value is None:
            continue
        if option.role is Role.SCRIPT:
            seen = True
            lowered = value.text.lower()
            if "\\!" in value.text or lowered.lstrip().startswith(("system ", "source ", "\\.", "pager ", "tee ")):
                call.unseen("a client escape runs a program")
            sql(call, value, "mysql")
        elif option.role is Role.HOST:
            call.host("database.read", value)
        elif option.role is Role.WRITE:
            call.path("file.write", value)
        elif option.role in {Role.RUN, Role.UNSEEN}:
            call.unseen("an option starts a program or brings in settings")
    if not seen:
        _input(call, "mysql")


_SQLITE = Program(
    "database.read",
    options={
        Role.SCRIPT: "-cmd",
        Role.UNSEEN: "-init -vfs",
        Role.TEXT: "-separator -newline -nullvalue -mmap -lookaside -pagecache -maxsize -heap -zip!",
        Role.FLAG: "-readonly -header -noheader -csv -json -column -line -list -html -markdown -box -table -batch -bail -echo -safe",
    },
    single=True,
)
_DOTS_READ = (".tables", ".schema", ".databases", ".indexes", ".indices", ".mode", ".headers", ".header", ".show", ".help", ".width",
              ".dump", ".stats", ".timer", ".nullvalue", ".separator", ".fullschema", ".dbinfo", ".limit", ".bail", ".explain", ".eqp", ".quit", ".exit", ".print")  # fmt: skip


_ADDRESS = re.compile(r"https?://[^\s'\"]{1,2000}")


def _addresses(call: Call) -> None:
    """``from 'https://x/f.csv'``: DuckDB fetches what its SQL names."""
    for word in call.words[1:] if call.words[0].text == "duckdb" else ():
        for address in _ADDRESS.findall(word.text):
            call.url("web.read", Word(address, word.sure))


def _sqlite(call: Call, program: Program) -> None:
    """``sqlite3 file 'sql'``; dot commands can write files and run programs."""
    split = Split(call.words[1:], table_of(program), posix=False, single=True)
    texts = [value for _, option, value in split.given if option.role is Role.SCRIPT and value is not None]
    if any(option.role is Role.UNSEEN for _, option, _ in split.given):
        call.unseen("sqlite settings from a file")
    for word in split.operands[:1]:
        call.path("file.read", word)
    _addresses(call)
    texts += split.operands[1:]
    for text in texts:
        if text.text.lstrip().startswith("."):
            _dot(call, text)
        else:
            sql(call, text, "sqlite")
            if any(capability.startswith("database.") and capability != "database.read" for capability in call.drafts):
                for word in split.operands[:1]:
                    call.path("file.write", word)
    if not texts:
        if call.stdin is not None and not any(line.lstrip().startswith(".") for line in call.stdin.splitlines()):
            _input(call, "sqlite")
        else:
            call.unseen("SQL that the text does not show", "database.write")


def _dot(call: Call, text: Word) -> None:
    for line in text.text.split("\n"):
        parts = line.split()
        if not parts:
            continue
        if parts[0] in {
            ".output",
            ".once",
            ".log",
            ".backup",
            ".save",
            ".clone",
            ".trace",
            ".excel",
            ".archive",
            ".ar",
        }:
            if any(part.startswith("|") for part in parts[1:]) or len(parts) < 2:
                call.unseen("output goes to a program")
            else:
                call.path("file.write", Word(parts[-1], text.sure))
        elif parts[0] in {".shell", ".system", ".read", ".load", ".open", ".import", ".restore", ".cd", ".edit"}:
            call.unseen("a client escape runs a program or brings in more")
            if parts[0] in {".shell", ".system"}:
                shell_line(call, Word(line.partition(parts[0])[2], text.sure))
        elif not parts[0].startswith(_DOTS_READ) and parts[0].startswith("."):
            call.unseen("an unknown dot command")
        else:
            call.effect("database.read")


def _redis(call: Call, program: Program) -> None:
    """``redis-cli GET x`` reads; the rest writes, ``FLUSHALL`` deletes, ``CONFIG``, ``EVAL`` and ``MODULE`` reach further."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    for name, _, value in split.given:
        if name == "h" and value is not None:
            call.host("database.read", value)
        elif name in {"eval", "pipe"}:
            call.unseen("a server script")
    words = [word.text.upper() for word in split.operands]
    verb = words[0] if words else ""
    reads = {
        "GET",
        "MGET",
        "KEYS",
        "SCAN",
        "INFO",
        "PING",
        "TTL",
        "TYPE",
        "EXISTS",
        "HGET",
        "HGETALL",
        "LRANGE",
        "LLEN",
        "SMEMBERS",
        "ZRANGE",
        "DBSIZE",
        "STRLEN",
        "HKEYS",
        "HVALS",
        "SCARD",
        "ZCARD",
        "PTTL",
        "MONITOR",
        "TIME",
        "LASTSAVE",
        "XRANGE",
        "XLEN",
        "ROLE",
        "SISMEMBER",
    }
    if verb in reads:
        call.effect("database.read")
    elif verb in {
        "DEL",
        "FLUSHALL",
        "FLUSHDB",
        "UNLINK",
        "HDEL",
        "SREM",
        "ZREM",
        "LREM",
        "XDEL",
        "GETDEL",
        "LTRIM",
        "SHUTDOWN",
        "EXPIRE",
    }:
        call.effect("database.delete")
    elif verb in {"EVAL", "EVALSHA", "SCRIPT", "MODULE", "FCALL", "FUNCTION", "DEBUG", "SLAVEOF", "REPLICAOF"}:
        call.unseen("code in the server")
    elif verb in {"ACL", "AUTH"}:
        call.effect("database.admin")
    elif verb == "CONFIG" and words[1:2] == ["GET"]:
        call.effect("database.read")
    elif not verb and (call.stdin is None or call.piped):
        call.unseen("commands that the text does not show", "database.write")
    else:
        call.effect("database.write")


def _mongo(call: Call, program: Program) -> None:
    """``mongosh --eval`` runs JavaScript against a database."""
    from agentsfence_core.classification.shell.programs.interpreters import code  # noqa: PLC0415  (one row needs it)

    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    texts = [value for _, option, value in split.given if option.role is Role.SCRIPT and value is not None]
    for text in texts:
        code(call, text, "javascript")
        lowered = text.text.lower()
        if any(name in lowered for name in (".delete", ".drop", ".remove(", "dropdatabase")):
            call.effect("database.delete")
        elif any(
            name in lowered for name in (".insert", ".update", ".replace", ".create", ".save(", "bulkwrite", ".rename")
        ):
            call.effect("database.write")
    if not texts:
        call.unseen("a database session")


_DUMP = Program(
    "database.read",
    options={
        Role.WRITE: "-f --file -r --result-file --out -o --archive?",
        Role.HOST: "-h --host",
        Role.TEXT: "-U --username -u --user -p? --password? -P --port -d --dbname --db -t --table -n --schema -F --format -T -Z -c! --uri --collection",
    },
)


def _restore(call: Call, program: Program) -> None:
    """``pg_restore`` fills a database; ``-l`` lists, ``-f`` and a missing database make it SQL in a file or printed."""
    split = by_row(call, program, call.words[1:])
    if not call.words[0].text.startswith("pg_"):
        return
    named = {name: value for name, _, value in split.given}
    into = [named[name] for name in ("f", "file") if named.get(name) is not None]
    if split.asks("l", "list") or (into and not {"d", "dbname"} & named.keys()):
        call.drafts.pop("database.write", None)
        call.drafts.pop("database.delete", None)
        call.effect("file.read")
    for word in into:
        if word is not None and word.text != "-":
            call.path("file.write", word)


_RESTORE = Program(
    "database.write",
    rest=Role.READ,
    options={Role.HOST: "-h --host", Role.TEXT: "-U -u -p? -P -d --dbname -F -j -t -n -f --file -L --use-list"},
    also={"database.delete": "-c --clean --drop"},
    hook=_restore,
)

PROGRAMS = {
    **rows("psql pgcli", Program("database.read", options=_PSQL.options, hook=_psql)),
    **rows("mysql mariadb mycli", Program("database.read", options=_MYSQL.options, hook=_mysql)),
    **rows("sqlite3 sqlite litecli", Program("database.read", options=_SQLITE.options, single=True, hook=_sqlite)),
    **rows("duckdb", Program("database.read", options={**_SQLITE.options, Role.SCRIPT: "-cmd -c -s"}, single=True, hook=_sqlite)),
    **rows("redis-cli valkey-cli", Program("database.read", options={Role.TEXT: "-h -p -a -n -u -r -i --user --pass -s --eval -d -x!"}, hook=_redis)),
    **rows("mongosh mongo", Program("database.read", options={Role.SCRIPT: "--eval", Role.UNSEEN: "-f --file", Role.TEXT: "--host --port -u --username -p --password"}, hook=_mongo)),
    **rows("pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport", _DUMP),
    **rows("pg_restore mongorestore mongoimport mysqlimport", _RESTORE),
    "mysqladmin": Program("database.write", subcommands={
        **rows("status extended-status ping processlist proc variables version", Program("database.read")),
        **rows("drop", Program("database.delete", rest=Role.OBJECT, kind="database")),
        **rows("shutdown kill", Program("process.control")),
        "password": Program("database.admin"),
    }, otherwise=Program("database.write", rest=Role.OBJECT, kind="database"), options={Role.HOST: "-h --host", Role.TEXT: "-u --user -p? --password? -P --port -S --socket"}),
    **rows("createdb createuser", Program("database.write", rest=Role.OBJECT, kind="database")),
    **rows("dropdb dropuser", Program("database.delete", rest=Role.OBJECT, kind="database")),
    **rows("pg_isready pg_lsclusters", Program("database.read")),
    **rows("pg_ctl pg_ctlcluster mysqld mongod redis-server postgres memcached", Program("process.control")),
    **rows("initdb", Program("file.write")),
    **rows("clickhouse-client clickhouse cqlsh sqlcmd bcp influx cypher-shell usql sqlplus isql snowsql trino presto beeline hive spark-sql", Program("database.write", sure=False)),
}  # fmt: skip
