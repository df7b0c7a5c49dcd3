"""What the words of SQL do: statements, functions, commands of the clients. Data only; `sql` reads it."""

from __future__ import annotations

from typing import Final

from agentsfence_core.model.risk import Risk

READ: Final = ("database.read", Risk.READ)
WRITE: Final = ("database.write", Risk.EXTERNAL_WRITE)
DELETE: Final = ("database.delete", Risk.DELETE)
ADMIN: Final = ("database.admin", Risk.PERMISSION_CHANGE)
RUN: Final = ("shell.exec", Risk.EXECUTION)
FILE_READ: Final = ("file.read", Risk.READ)
FILE_WRITE: Final = ("file.write", Risk.LOCAL_WRITE)
UPLOAD: Final = ("file.upload", Risk.EXTERNAL_WRITE)
FETCH: Final = ("web.read", Risk.READ)
POST: Final = ("web.post", Risk.EXTERNAL_WRITE)
MAIL: Final = ("email.send", Risk.COMMUNICATION)
LATER: Final = ("schedule.create", Risk.EXECUTION)
UNSCHEDULE: Final = ("schedule.delete", Risk.DELETE)

Does = tuple[str, Risk]

_READING = """
SELECT VALUES TABLE FROM WITH SHOW DESCRIBE DESC EXPLAIN HELP USE BEGIN START COMMIT ROLLBACK SAVEPOINT RELEASE END
ABORT SET RESET DISCARD DECLARE FETCH MOVE CLOSE PREPARE DEALLOCATE LISTEN UNLISTEN GO IF ELSE THEN PRINT WAITFOR
PIVOT UNPIVOT SUMMARIZE LIST ASSERT DELIMITER CONNECT PROMPT CHECK LEAVE ITERATE RETURN PRAGMA COPY HANDLER
"""
_WRITING = """
INSERT UPDATE MERGE REPLACE UPSERT CREATE ALTER COMMENT RENAME IMPORT LOAD REFRESH CALL EXEC EXECUTE DO NOTIFY LOCK
CHECKPOINT ANALYZE VACUUM REINDEX CLUSTER OPTIMIZE REPAIR ATTACH DETACH UNDROP RESTORE BACKUP INSTALL KILL FLUSH
SHUTDOWN EXPORT UNLOAD PUT GET SYSTEM SOURCE TEE PAGER CHANGE BULK DBCC MSCK CACHE UNCACHE INVALIDATE COMPUTE
"""
STATEMENTS: Final[dict[str, Does]] = {
    **dict.fromkeys(_READING.split(), READ),
    **dict.fromkeys(_WRITING.split(), WRITE),
    **dict.fromkeys(("DELETE", "DROP", "TRUNCATE", "PURGE"), DELETE),
    **dict.fromkeys(("GRANT", "REVOKE", "REASSIGN", "DENY", "SECURITY"), ADMIN),
}
"""First word of a statement -> what it does. A word that is not here makes the text unreadable."""

EXPLAINED: Final = frozenset(
    {
        "SELECT",
        "INSERT",
        "UPDATE",
        "DELETE",
        "MERGE",
        "REPLACE",
        "WITH",
        "VALUES",
        "TABLE",
        "CREATE",
        "EXECUTE",
        "DECLARE",
    }
)
"""Statements that EXPLAIN can stand in front of."""

BEFORE_INTO: Final = frozenset({"INSERT", "MERGE", "REPLACE", "IGNORE", "OVERWRITE", "COPY", "LOW_PRIORITY", "DELAYED"})
"""Words before ``INTO`` that make it part of a statement of their own."""

ANYWHERE: Final = frozenset(
    {
        "INSERT", "UPDATE", "MERGE", "DELETE", "DROP", "TRUNCATE", "GRANT", "REVOKE", "ALTER", "CREATE", "EXEC",
        "EXECUTE", "REPLACE", "CALL", "BULK", "SHUTDOWN", "BACKUP", "RESTORE",
    }
)  # fmt: skip
"""Words that begin a statement wherever one can stand: in a CTE, a body, or behind another one without ``;``."""

NO_STATEMENT_AFTER: Final = frozenset(
    """
    , . = < > + - * / % ! ~ | & : @ [ SELECT DISTINCT WHERE AND OR NOT ON BY AS FOR HAVING CASE WHEN IN LIKE BETWEEN IS
    KEY SET OF NO ONLY TO COLUMN GRANT REVOKE ALLOW WITH INDEX TABLE VIEW FUNCTION USING LIMIT JOIN FROM INTO ALL OR
    """.split()
)
"""Behind these, such a word is a column, an alias or part of a clause (``FOR UPDATE``, ``ON DELETE CASCADE``)."""

PRIVILEGE_NOUNS: Final = frozenset(
    {
        "ROLE",
        "USER",
        "GROUP",
        "LOGIN",
        "POLICY",
        "PRIVILEGES",
        "OWNER",
        "OWNED",
        "PROFILE",
        "CREDENTIAL",
        "AUTHORIZATION",
    }
)
"""Behind ``CREATE``, ``ALTER`` or ``DROP``: who may do what."""

KEEPS_DATA: Final = frozenset(
    {"CONSTRAINT", "DEFAULT", "NOT", "EXPRESSION", "IDENTITY", "INDEX", "KEY", "FOREIGN", "PRIMARY", "CHECK", "UNIQUE"}
)
"""Behind ``ALTER TABLE … DROP``: what goes is no data."""

UNTRUSTED_LANGUAGES: Final = frozenset(
    {"C", "PLPYTHONU", "PLPYTHON3U", "PLPYTHON2U", "PLPERLU", "PLSH", "PLTCLU", "INTERNAL", "PYTHON", "JAVA"}
)

_HARMLESS_PRAGMAS = """
table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list foreign_key_check integrity_check
quick_check database_list collation_list function_list module_list pragma_list compile_options show database_size
storage_info version
"""
HARMLESS_PRAGMAS: Final = frozenset(_HARMLESS_PRAGMAS.split())
"""Pragmas that only read, with or without an argument."""
ACTING_PRAGMAS: Final = frozenset({"wal_checkpoint", "optimize", "incremental_vacuum", "shrink_memory"})
"""Pragmas that act without an argument."""

FUNCTIONS: Final[dict[str, Does]] = {
    **dict.fromkeys(
        "load_extension xp_cmdshell sys_exec sys_eval fts3_tokenizer edit shell system sp_oacreate sp_oamethod".split(),
        RUN,
    ),
    **dict.fromkeys(
        """
        pg_read_file pg_read_binary_file pg_ls_dir pg_stat_file load_file readfile read_csv read_csv_auto read_parquet
        parquet_scan read_json read_json_auto read_text read_blob read_ndjson bfilename openrowset sniff_csv
        """.split(),
        FILE_READ,
    ),
    **dict.fromkeys("lo_export writefile pg_file_write pg_file_rename pg_file_sync".split(), FILE_WRITE),
    "pg_file_unlink": ("file.delete", Risk.DELETE),
    **dict.fromkeys(
        """
        lo_import nextval setval pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile pg_switch_wal
        pg_promote pg_create_restore_point pg_create_physical_replication_slot pg_create_logical_replication_slot
        pg_logical_slot_get_changes pg_logical_emit_message pg_replication_slot_advance set_config pg_notify lo_create
        lo_creat lo_from_bytea lo_put lowrite lo_truncate pg_stat_reset pg_stat_statements_reset pg_wal_replay_pause
        pg_wal_replay_resume pg_import_system_collations pg_extension_config_dump txid_snapshot_xip dblink dblink_exec
        dblink_connect dblink_send_query openquery opendatasource xp_regwrite xp_dirtree xp_fileexist sp_executesql
        sp_configure query_to_xml cursor_to_xml ts_stat sqlite_exec
        """.split(),
        WRITE,
    ),
    **dict.fromkeys("lo_unlink pg_drop_replication_slot xp_regdeletevalue xp_delete_file".split(), DELETE),
    **dict.fromkeys("sp_addsrvrolemember sp_addrolemember sp_addlogin sp_adduser sp_password".split(), ADMIN),
    **dict.fromkeys("http_post http_put http_patch http_delete http httpposturl".split(), POST),
    **dict.fromkeys("http_get http_head httpuritype url".split(), FETCH),
    **dict.fromkeys("sp_send_dbmail xp_sendmail".split(), MAIL),
}
"""Function -> what it does beside computing."""

SCHEMAS: Final[dict[str, Does]] = {
    "utl_http": POST,
    "utl_tcp": POST,
    "utl_file": FILE_WRITE,
    "utl_smtp": MAIL,
    "utl_mail": MAIL,
    "net": POST,
    "cron": LATER,
    "dbms_scheduler": LATER,
    "dbms_job": LATER,
    "dbms_java": RUN,
    "dbms_xslprocessor": FILE_WRITE,
    "dbms_ldap": POST,
    "vault": WRITE,
}
"""Schema or package in front of a function -> what its functions do."""

HARMLESS_PROCEDURES: Final = frozenset(
    """
    sp_help sp_helptext sp_helpindex sp_columns sp_tables sp_who sp_who2 sp_spaceused sp_depends sp_databases sp_fkeys
    sp_pkeys sp_stored_procedures sp_lock sp_statistics sp_describe_first_result_set
    """.split()
)

HARMLESS_WITH_VERB: Final = frozenset(
    {"set_bit", "set_byte", "set_masklen", "add_months", "add_days", "add_hours", "create_interval", "process_id"}
)
"""Functions named like an action that only compute."""

DELETING_VERBS: Final = frozenset("delete remove drop purge truncate destroy erase wipe clear clean unschedule".split())
ACTING_VERBS: Final = frozenset(
    """
    insert update upsert create add set write save store merge move import refresh rebuild reset archive cancel approve
    sync process run execute exec call trigger send notify email post publish pay transfer charge refund grant revoke
    assign enable disable invoke schedule register change modify alter do perform apply copy migrate
    """.split()
)

_READING_META = """
d l z x pset timing echo q h ? conninfo encoding sf sv a t f H T C unset cd c connect errverbose warn qecho prompt du dt
dv dn df di ds dm dp dg db dx dD dL dO dP dT da dA dC dE dF dRp dRs dconfig crosstabview gdesc p r help watch bind gx g
if elif else endif set s
"""
META: Final[dict[str, Does]] = {
    **dict.fromkeys(_READING_META.split(), READ),
    **dict.fromkeys(("!", "setenv", "e", "edit", "ef", "ev"), RUN),
    **dict.fromkeys(("i", "ir", "include", "include_relative", "gexec", "lo_import", "copy"), WRITE),
    "lo_unlink": DELETE,
    "password": ADMIN,
    **dict.fromkeys(("o", "out", "w", "write", "lo_export", "s"), FILE_WRITE),
}
"""Backslash command of psql -> what it does."""

_READING_DOT = """
tables schema mode headers header indexes indices databases help quit exit print show width timer separator nullvalue
fullschema stats dbinfo echo bail eqp explain scanstats changes lint sha3sum dump version vfsinfo vfslist limit open
nonce parameter progress prompt selftest binary cd connection trace log filectrl expert
"""
DOT: Final[dict[str, Does]] = {
    **dict.fromkeys(_READING_DOT.split(), READ),
    **dict.fromkeys(("shell", "system", "load", "excel", "www"), RUN),
    **dict.fromkeys(("read", "import", "restore", "recover", "archive", "ar", "clone", "session", "auth"), WRITE),
    **dict.fromkeys(("output", "once", "backup", "save"), FILE_WRITE),
}
"""Dot command of sqlite3 -> what it does."""
