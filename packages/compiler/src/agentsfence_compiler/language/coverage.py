"""Which capabilities a verb asks for, and which ones a ban on it covers (DESIGN 7.2; task policies, "Fields").

Rules of this file:

* Keys are lemmas of ``capabilities.yaml``, so that every language uses the same tables.
* A request's verb without a known noun asks for little; a ban's verb without an object covers its whole class.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsfence_core.classification.vocabulary import inferred, vocabulary
from agentsfence_core.model import Risk

SENDING = ("email.send", "message.send", "chat.send")
"""What a send to somebody may be, where the words do not say through what."""

SEND_VERBS = frozenset(
    """
    send email mail forward cc bcc reply respond answer message text ping notify tell inform dm contact call
    write
    """.split()
)
"""Verbs whose object is somebody, when a party or a person is named."""

MEDIUM_OF = {
    "email": "email.send",
    "mail": "email.send",
    "cc": "email.send",
    "bcc": "email.send",
    "forward": "email.send",
    "text": "message.send",
    "call": "message.send",
    "dm": "message.send",
}
"""Verbs that say through what."""

ALONE = {
    "write": ("file.write",),
    "convert": ("file.write",),
    "save": ("file.write",),
    "edit": ("file.write",),
    "update": ("file.write",),
    "append": ("file.write",),
    "fix": ("file.write",),
    "modify": ("file.write",),
    "overwrite": ("file.write",),
    "export": ("file.write",),
    "insert": ("file.write",),
    "replace": ("file.write",),
    "refactor": ("file.write",),
    "correct": ("file.write",),
    "implement": ("file.write",),
    "patch": ("file.write",),
    "touch": ("file.write",),
    "draft": ("file.write",),
    "reformat": ("file.write",),
    "create": ("file.write",),
    "change": ("file.write",),
    "add": ("file.write",),
    "store": ("file.write",),
    "put": ("file.write",),
    "generate": ("file.write",),
    "rename": ("file.move",),
    "move": ("file.move",),
    "organize": ("file.move",),
    "copy": ("file.copy",),
    "download": ("file.download",),
    "fetch": ("file.download",),
    "upload": ("file.upload", "drive.write"),
    "zip": ("file.archive",),
    "compress": ("file.archive",),
    "unzip": ("file.archive",),
    "unpack": ("file.archive",),
    "tar": ("file.archive",),
    "decompress": ("file.archive",),
    "pack": ("file.archive",),
    "delete": ("file.delete",),
    "remove": ("file.delete",),
    "erase": ("file.delete",),
    "wipe": ("file.delete",),
    "clean": ("file.delete",),
    "purge": ("file.delete",),
    "trash": ("file.delete",),
    "clear": ("file.delete",),
    "discard": ("file.delete", "git.delete"),
    "chmod": ("file.permissions",),
    "chown": ("file.permissions",),
    "share": ("file.share",),
    "remember": ("memory.write",),
    "memorize": ("memory.write",),
    "forget": ("memory.delete",),
    "commit": ("git.commit",),
    "stage": ("git.commit",),
    "amend": ("git.commit",),
    "push": ("git.push",),
    "force-push": ("git.push", "git.overwrite"),
    "pull": ("git.update",),
    "merge": ("git.update",),
    "rebase": ("git.update",),
    "stash": ("git.update",),
    "revert": ("git.update",),
    "clone": ("git.update",),
    "cherry-pick": ("git.update",),
    "checkout": ("git.update", "git.branch"),
    "test": ("test.run",),
    "rerun": ("test.run",),
    "build": ("build.run",),
    "compile": ("build.run",),
    "rebuild": ("build.run",),
    "bundle": ("build.run",),
    "lint": ("lint.run",),
    "typecheck": ("lint.run",),
    "install": ("package.install",),
    "upgrade": ("package.install",),
    "uninstall": ("package.remove",),
    "pay": ("payment.send",),
    "wire": ("payment.send",),
    "donate": ("payment.send",),
    "tip": ("payment.send",),
    "reimburse": ("payment.send", "payment.refund"),
    "refund": ("payment.refund",),
    "buy": ("purchase.order",),
    "purchase": ("purchase.order",),
    "order": ("purchase.order",),
    "renew": ("purchase.order",),
    "subscribe": ("purchase.order", "social.update"),
    "book": ("booking.create",),
    "reserve": ("booking.create",),
    "trade": ("trade.execute",),
    "sell": ("trade.execute",),
    "deploy": ("deploy.run",),
    "ship": ("deploy.run",),
    "rollback": ("deploy.run",),
    "play": ("media.play",),
    "pause": ("media.play",),
    "skip": ("media.play",),
    "resume": ("media.play",),
    "shuffle": ("media.play",),
    "tweet": ("social.publish",),
    "unsubscribe": ("email.update",),
    "archive": ("email.update", "file.archive"),
    "unfollow": ("social.update",),
    "bookmark": ("social.update",),
    "reschedule": ("calendar.update",),
    "postpone": ("calendar.update",),
    "invite": ("calendar.invite", "chat.admin"),
    "restart": ("process.control",),
    "kill": ("process.control",),
    "terminate": ("process.control",),
    "comment": ("comment.create",),
    "publish": ("social.publish",),
    "ban": ("access.revoke",),
    "kick": ("access.revoke", "chat.admin"),
    "revoke": ("access.revoke", "file.share"),
    "grant": ("access.grant", "file.share"),
}
"""What a verb asks for whose object is none that the table of capabilities knows."""

BY_PLACE = {
    ("add", "slack"): ("chat.admin",),
    ("invite", "slack"): ("chat.admin",),
    ("remove", "slack"): ("chat.admin",),
    ("kick", "slack"): ("chat.admin",),
    ("create", "slack"): ("chat.update",),
    ("post", "slack"): ("chat.send",),
    ("add", "repo"): ("repo.admin",),
    ("invite", "repo"): ("repo.admin",),
    ("remove", "repo"): ("repo.admin",),
    ("add", "event"): ("calendar.invite", "calendar.update"),
    ("add", "meeting"): ("calendar.invite", "calendar.update"),
    ("add", "participant"): ("calendar.invite", "calendar.update"),
    ("add", "attendee"): ("calendar.invite", "calendar.update"),
    ("invite", "event"): ("calendar.invite", "calendar.update"),
    ("invite", "meeting"): ("calendar.invite", "calendar.update"),
    ("add", "calendar"): ("calendar.create",),
    ("put", "calendar"): ("calendar.create",),
    ("create", "calendar"): ("calendar.create",),
    ("book", "calendar"): ("calendar.create",),
    ("block", "calendar"): ("calendar.create",),
    ("update", "calendar"): ("calendar.update",),
    ("move", "calendar"): ("calendar.update",),
    ("delete", "calendar"): ("calendar.delete",),
    ("remove", "calendar"): ("calendar.delete",),
    ("delete", "drive"): ("drive.delete", "file.delete"),
    ("remove", "drive"): ("drive.delete", "file.delete"),
    ("add", "drive"): ("drive.write", "file.write"),
    ("create", "drive"): ("drive.write", "file.write"),
    ("save", "drive"): ("drive.write", "file.write"),
    ("upload", "drive"): ("drive.write", "file.upload"),
    ("write", "drive"): ("drive.write", "file.write"),
    ("update", "drive"): ("drive.write", "file.write"),
    ("edit", "drive"): ("drive.write", "file.write"),
    ("append", "drive"): ("drive.write", "file.write"),
    ("add", "page"): ("note.write",),
    ("create", "page"): ("note.write",),
    ("update", "page"): ("note.write",),
    ("write", "page"): ("note.write",),
    ("save", "page"): ("note.write",),
    ("append", "page"): ("note.write",),
    ("add", "database"): ("database.write",),
    ("delete", "database"): ("database.delete",),
    ("remove", "database"): ("database.delete",),
    ("update", "database"): ("database.write",),
    ("insert", "database"): ("database.write",),
    ("add", "spreadsheet"): ("drive.write", "file.write"),
    ("update", "spreadsheet"): ("drive.write", "file.write"),
    ("insert", "spreadsheet"): ("drive.write", "file.write"),
    ("append", "spreadsheet"): ("drive.write", "file.write"),
    ("add", "crm"): ("record.write",),
    ("update", "crm"): ("record.write",),
    ("create", "crm"): ("record.write",),
    ("add", "playlist"): ("playlist.write",),
    ("add", "task"): ("task.write",),
    ("create", "ticket"): ("task.write", "issue.create"),
}
"""Verb and the place it happens in: "add Alice to the channel"."""

BY_NOUN = {
    ("draft", "email"): ("email.draft",),
    ("draft", "mail"): ("email.draft",),
    ("draft", "answer"): ("email.draft",),
    ("draft", "reply"): ("email.draft",),
    ("draft", "response"): ("email.draft",),
    ("draft", "message"): ("email.draft",),
    ("draft", "invitation"): ("email.draft",),
    ("prepare", "email"): ("email.draft",),
    ("prepare", "reply"): ("email.draft",),
    ("prepare", "answer"): ("email.draft",),
    ("prepare", "mail"): ("email.draft",),
    ("create", "email"): ("email.draft",),
    ("compose", "email"): ("email.draft",),
    ("prepare", "draft"): ("email.draft",),
    ("send", "difference"): ("payment.send",),
    ("send", "refund"): ("payment.send", "payment.refund"),
    ("send", "money"): ("payment.send",),
    ("transfer", "money"): ("payment.send",),
    ("send", "payment"): ("payment.send",),
    ("adjust", "rent"): ("payment.schedule",),
    ("update", "rent"): ("payment.schedule", "payment.send"),
    ("update", "payment"): ("payment.schedule",),
    ("update", "standing order"): ("payment.schedule",),
    ("cancel", "payment"): ("payment.schedule",),
    ("cancel", "standing order"): ("payment.schedule",),
    ("update", "password"): ("account.security",),
    ("create", "recurring payment"): ("payment.schedule",),
    ("write", "message"): SENDING,
    ("write", "email"): ("email.send",),
    ("write", "mail"): ("email.send",),
    ("write", "reply"): ("email.send", "message.send"),
    ("write", "answer"): ("email.send", "message.send"),
    ("write", "comment"): ("comment.create",),
    ("write", "sms"): ("message.send",),
    ("write", "text"): ("file.write",),
    ("write", "post"): ("social.publish", "file.write"),
    ("write", "article"): ("file.write",),
    ("create", "post"): ("social.publish",),
    ("post", "question"): ("chat.send", "comment.create"),
    ("make", "public"): ("file.share", "repo.admin", "access.grant"),
    ("make", "executable"): ("file.permissions",),
    ("delete", "download"): ("file.delete",),
    ("run", "build"): ("build.run",),
    ("run", "server"): ("process.control",),
    ("run", "test"): ("test.run",),
    ("run", "migration"): ("database.write",),
    ("execute", "migration"): ("database.write",),
    ("apply", "migration"): ("database.write",),
    ("send", "invitation"): ("calendar.invite", "email.send"),
    ("send", "invite"): ("calendar.invite", "email.send"),
    ("apply", "patch"): ("file.write",),
    ("apply", "change"): ("file.write",),
    ("apply", "fix"): ("file.write",),
    ("rename", "function"): ("file.write",),
    ("rename", "variable"): ("file.write",),
    ("create", "function"): ("file.write",),
    ("create", "test"): ("file.write",),
    ("restart", "service"): ("process.control",),
    ("restart", "server"): ("process.control", "cloud.write"),
    ("download", "package"): ("package.install",),
    ("update", "package"): ("package.install",),
    ("update", "dependency"): ("package.install",),
    ("delete", "row"): ("database.delete", "drive.write"),
    ("add", "event"): ("calendar.create",),
    ("change", "password"): ("account.security",),
    ("set", "password"): ("account.security",),
    ("make", "admin"): ("access.grant", "repo.admin", "chat.admin"),
    ("make", "owner"): ("access.grant", "file.share"),
    ("make", "collaborator"): ("repo.admin", "access.grant"),
    ("make", "member"): ("access.grant", "chat.admin"),
    ("turn", "2fa"): ("account.security",),
    ("format", "code"): ("lint.run", "file.write"),
    ("format", "file"): ("lint.run", "file.write"),
    ("format", "project"): ("lint.run",),
    ("format", "repo"): ("lint.run",),
    ("make", "reservation"): ("booking.create",),
    ("make", "booking"): ("booking.create",),
    ("make", "payment"): ("payment.send",),
    ("make", "transfer"): ("payment.send",),
    ("make", "appointment"): ("calendar.create",),
    ("make", "event"): ("calendar.update", "calendar.create"),
    ("make", "donation"): ("payment.send",),
    ("make", "order"): ("purchase.order",),
    ("place", "order"): ("purchase.order",),
    ("make", "commit"): ("git.commit",),
    ("make", "post"): ("social.publish",),
    ("make", "call"): ("message.send",),
}
"""Pairs that people write and that the table of capabilities reads otherwise, or not at all."""

CONTENT_NOUNS = frozenset(
    """
    line section typo function variable word paragraph import comment text entry test code class method key
    setting todo item sentence heading title header footer link bug error warning argument parameter dependency
    ingredient activity column row
    """.split()
)
"""Parts of a file: removing one from a named file edits that file."""

MONEY_NOUNS = frozenset(
    """
    money payment fund funds fee deposit difference amount rent salary donation refund bitcoin crypto
    """.split()
)

FAMILIES = {
    "drive": "drive",
    "shared drive": "drive",
    "spreadsheet": "drive",
    "sheet": "drive",
    "google doc": "drive",
    "calendar": "calendar",
    "event": "calendar",
    "appointment": "calendar",
    "meeting": "calendar",
    "inbox": "email",
    "mailbox": "email",
    "email": "email",
    "mail": "email",
    "thread": "email",
    "database": "database",
    "table": "database",
    "contact": "contact",
    "repo": "repo",
    "repository": "repo",
    "branch": "git",
    "commit": "git",
    "task": "task",
    "note": "note",
    "page": "note",
    "playlist": "playlist",
    "password": "account",
    "account": "account",
    "cluster": "container",
    "container": "container",
    "server": "cloud",
    "instance": "cloud",
    "bucket": "cloud",
    "permission": "access",
    "access": "access",
    "issue": "issue",
    "pull request": "pr",
    "pr": "pr",
    "light": "home",
    "thermostat": "home",
    "subscription": "booking",
    "customer": "record",
    "invoice": "record",
    "memory": "memory",
}
"""Noun -> family of capabilities."""

_CHANGING = (Risk.EXTERNAL_WRITE, Risk.LOCAL_WRITE)
_GENERAL = {
    "clean": (Risk.DELETE, Risk.EXTERNAL_WRITE),
    "clear": (Risk.DELETE,),
    "empty": (Risk.DELETE,),
    "delete": (Risk.DELETE,),
    "remove": (Risk.DELETE,),
    "purge": (Risk.DELETE,),
    "organize": _CHANGING,
    "change": _CHANGING,
    "edit": _CHANGING,
    "update": _CHANGING,
    "fix": _CHANGING,
    "modify": _CHANGING,
}
"""Verbs that say little by themselves -> classes that they may ask for within a family."""

INFERS = {
    "update": Risk.EXTERNAL_WRITE,
    "change": Risk.EXTERNAL_WRITE,
    "add": Risk.EXTERNAL_WRITE,
    "set": Risk.EXTERNAL_WRITE,
    "enable": Risk.EXTERNAL_WRITE,
    "disable": Risk.EXTERNAL_WRITE,
    "cancel": Risk.DELETE,
    "remove": Risk.DELETE,
    "delete": Risk.DELETE,
    "schedule": Risk.EXTERNAL_WRITE,
    "reschedule": Risk.EXTERNAL_WRITE,
    "submit": Risk.EXTERNAL_WRITE,
    "register": Risk.EXTERNAL_WRITE,
    "apply": Risk.EXTERNAL_WRITE,
    "approve": Risk.EXTERNAL_WRITE,
    "reject": Risk.EXTERNAL_WRITE,
    "rotate": Risk.PERMISSION_CHANGE,
    "reset": Risk.EXTERNAL_WRITE,
    "upload": Risk.EXTERNAL_WRITE,
    "close": Risk.EXTERNAL_WRITE,
    "assign": Risk.EXTERNAL_WRITE,
    "adjust": Risk.EXTERNAL_WRITE,
    "start": Risk.EXTERNAL_WRITE,
    "stop": Risk.EXTERNAL_WRITE,
}
"""Verbs for which an unknown noun makes a capability of its own (``noun.verb``), with its class."""

_WRITES = ("LOCAL_WRITE", "EXTERNAL_WRITE", "DELETE", "PERMISSION_CHANGE", "FINANCIAL")
READ_ONLY = (*_WRITES, "COMMUNICATION", "EXECUTION")
"""What "read-only" forbids."""
_PUSHES = ("web.post", "file.upload", "git.push")
_SENDS = ("COMMUNICATION", *_PUSHES)
_SHARES = ("file.share", "calendar.share", "access.grant", "COMMUNICATION", "file.upload", "web.post")

BANS = {
    "send": _SENDS,
    "forward": _SENDS,
    "reply": ("COMMUNICATION",),
    "respond": ("COMMUNICATION",),
    "answer": ("COMMUNICATION",),
    "write-to": ("COMMUNICATION",),
    "notify": ("COMMUNICATION",),
    "inform": ("COMMUNICATION",),
    "tell": ("COMMUNICATION",),
    "contact": ("COMMUNICATION",),
    "message": ("COMMUNICATION",),
    "ping": ("COMMUNICATION",),
    "email": ("email.send", "email.forwarding", "calendar.invite"),
    "mail": ("email.send", "email.forwarding", "calendar.invite"),
    "text": ("message.send", "chat.send"),
    "dm": ("message.send", "chat.send"),
    "call": ("message.send", "meeting.join"),
    "cc": ("email.send",),
    "bcc": ("email.send",),
    "comment": ("comment.create", "pr.review"),
    "post": ("chat.send", "social.publish", "comment.create", *_PUSHES),
    "publish": ("social.publish", "package.publish", "deploy.run", "repo.write", "chat.send", "file.share", *_PUSHES),
    "tweet": ("social.publish",),
    "announce": ("COMMUNICATION",),
    "share": _SHARES,
    "leak": _SENDS,
    "expose": _SHARES,
    "disclose": _SENDS,
    "upload": ("file.upload", "web.post", "drive.write"),
    "invite": ("calendar.invite", "chat.admin", "access.grant", "repo.admin"),
    "submit": ("web.post", "browser.interact"),
    "grant": ("PERMISSION_CHANGE",),
    "give": ("PERMISSION_CHANGE",),
    "authorize": ("PERMISSION_CHANGE",),
    "revoke": ("PERMISSION_CHANGE",),
    "chmod": ("file.permissions",),
    "chown": ("file.permissions",),
    "make-public": ("PERMISSION_CHANGE",),
    "promote": ("PERMISSION_CHANGE",),
    "delete": ("DELETE",),
    "remove": ("DELETE",),
    "erase": ("DELETE",),
    "wipe": ("DELETE",),
    "clean": ("DELETE",),
    "purge": ("DELETE",),
    "trash": ("DELETE",),
    "clear": ("DELETE",),
    "discard": ("DELETE",),
    "empty": ("DELETE",),
    "drop": ("DELETE",),
    "truncate": ("DELETE",),
    "destroy": ("DELETE",),
    "uninstall": ("package.remove",),
    "change": _WRITES,
    "modify": _WRITES,
    "alter": _WRITES,
    "touch": _WRITES,
    "edit": ("LOCAL_WRITE", "EXTERNAL_WRITE", "DELETE"),
    "update": ("LOCAL_WRITE", "EXTERNAL_WRITE"),
    "write": ("LOCAL_WRITE", "EXTERNAL_WRITE"),
    "create": ("LOCAL_WRITE", "EXTERNAL_WRITE"),
    "save": ("LOCAL_WRITE",),
    "overwrite": ("LOCAL_WRITE", "DELETE"),
    "add": ("LOCAL_WRITE", "EXTERNAL_WRITE"),
    "fix": ("LOCAL_WRITE",),
    "refactor": ("LOCAL_WRITE",),
    "implement": ("LOCAL_WRITE",),
    "patch": ("LOCAL_WRITE",),
    "replace": ("LOCAL_WRITE",),
    "insert": ("LOCAL_WRITE", "database.write"),
    "append": ("LOCAL_WRITE",),
    "generate": ("LOCAL_WRITE",),
    "store": ("LOCAL_WRITE", "EXTERNAL_WRITE"),
    "make": ("LOCAL_WRITE", "EXTERNAL_WRITE"),
    "put": ("LOCAL_WRITE", "EXTERNAL_WRITE"),
    "move": ("file.move", "drive.write", "email.update", "calendar.update"),
    "rename": ("file.move", "drive.write", "note.write"),
    "organize": ("file.move",),
    "archive": ("email.update", "note.delete", "repo.delete", "file.archive", "email.delete"),
    "copy": ("file.copy", "drive.write"),
    "download": ("file.download", "package.install", "git.update"),
    "export": ("LOCAL_WRITE", "file.upload"),
    "run": ("EXECUTION",),
    "execute": ("EXECUTION",),
    "start": ("process.control", "workflow.run", "container.run", "cloud.write"),
    "use": ("EXECUTION",),
    "stop": ("process.control", "cloud.write"),
    "kill": ("process.control",),
    "restart": ("process.control", "cloud.write", "container.run", "system.configure"),
    "install": ("package.install", "skill.write"),
    "upgrade": ("package.install",),
    "build": ("build.run",),
    "test": ("test.run",),
    "compile": ("build.run",),
    "trigger": ("workflow.run",),
    "commit": ("git.commit",),
    "push": ("git.push",),
    "pull": ("git.update",),
    "merge": ("repo.merge", "git.update"),
    "rebase": ("git.update",),
    "force-push": ("git.overwrite",),
    "deploy": ("deploy.run", "cloud.write", "package.publish", "workflow.run", "container.run"),
    "release": ("deploy.run", "package.publish", "repo.write"),
    "ship": ("deploy.run", "package.publish"),
    "migrate": ("database.write",),
    "open": ("web.read", "browser.navigate"),
    "visit": ("web.read", "browser.navigate"),
    "browse": ("web.read", "web.search", "browser.navigate"),
    "close": ("issue.update", "task.write", "account.delete"),
    "approve": ("pr.review", "access.grant"),
    "pay": ("FINANCIAL",),
    "buy": ("FINANCIAL",),
    "purchase": ("FINANCIAL",),
    "order": ("FINANCIAL",),
    "spend": ("FINANCIAL",),
    "transfer": ("FINANCIAL",),
    "donate": ("FINANCIAL",),
    "book": ("FINANCIAL", "calendar.create"),
    "reserve": ("FINANCIAL",),
    "subscribe": ("FINANCIAL",),
    "refund": ("FINANCIAL",),
    "trade": ("FINANCIAL",),
    "sell": ("FINANCIAL",),
    "checkout": ("FINANCIAL",),
    "renew": ("FINANCIAL",),
    "bid": ("FINANCIAL",),
    "charge": ("FINANCIAL",),
    "withdraw": ("FINANCIAL",),
    "schedule": ("calendar.create", "schedule.create", "payment.schedule"),
    "reschedule": ("calendar.update",),
    "cancel": ("calendar.delete", "booking.cancel", "schedule.delete", "DELETE"),
    "accept": ("calendar.update",),
    "decline": ("calendar.update",),
    "remember": ("memory.write",),
    "memorize": ("memory.write",),
    "forget": ("memory.delete",),
    "draft": ("email.draft",),
    "attach": ("email.attach",),
    "label": ("email.update",),
    "mark": ("email.update", "task.write"),
    "unsubscribe": ("email.update",),
    "log": ("browser.interact",),
    "click": ("browser.interact",),
    "join": ("meeting.join",),
    "configure": ("system.configure",),
    "reboot": ("system.configure",),
    "play": ("media.play",),
    "turn": ("home.control",),
    "unlock": ("home.control",),
    "lock": ("home.control",),
}
"""What a ban on a verb covers when its object is everything, or nothing that narrows it. A ban on sending covers
pushing data out by other means (paper, 4, item 5)."""

TERMINAL_TOOLS = ("EXECUTION", "terminal", "bash", "shell", "execute_command", "run_command")
TERMINAL_NOUNS = frozenset(
    "terminal shell bash console command commands cli command-line code python script scripts".split()
) | {"shell command", "terminal command"}


def risk_of(capability: str, lemma: str) -> Risk:
    """Return the class of a capability, inferred names included."""
    return vocabulary().risk_of(capability) or INFERS.get(lemma, Risk.EXTERNAL_WRITE)


def by_noun(lemma: str, noun: str) -> tuple[str, ...]:
    """Return the consequential capabilities that a verb and a noun name."""
    pair = BY_NOUN.get((lemma, noun))
    if pair is not None:
        return pair
    return tuple(entry.name for entry in vocabulary().named(lemma, noun) if entry.risk is not Risk.READ)


def by_family(lemma: str, nouns: Sequence[str]) -> tuple[str, ...]:
    """Return what a general verb does to a thing of a known family: "clean up my inbox" deletes or files mail."""
    family = next((FAMILIES[noun] for noun in nouns if noun in FAMILIES), "")
    if not family or lemma not in _GENERAL:
        return ()
    wanted = _GENERAL[lemma]
    table = vocabulary().capabilities
    return tuple(
        name
        for name, entry in table.items()
        if name.startswith(f"{family}.")
        and entry.risk in wanted
        and (entry.risk is Risk.DELETE or name.endswith((".update", ".write")))
    )


def family_of(nouns: Sequence[str]) -> tuple[str, ...]:
    """Return all that changes something in the family of the first noun that has one."""
    family = next((FAMILIES[noun] for noun in nouns if noun in FAMILIES), "")
    table = vocabulary().capabilities
    return tuple(
        name
        for name, entry in table.items()
        if family and name.startswith(f"{family}.") and entry.risk is not Risk.READ
    )


def inferred_for(lemma: str, noun: str) -> tuple[str, ...]:
    """Return the capability that an unknown noun makes with a verb, none where the verb says too little."""
    return (inferred(lemma, noun),) if lemma in INFERS and noun and noun.replace(" ", "").isalnum() else ()


def covered(lemma: str, nouns: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return what a ban on a verb covers: its whole class, or what it does to the nouns named."""
    if lemma in _WEB_VERBS and any(noun in _WEB_NOUNS for noun in nouns):
        return _WEB
    if lemma in {"use", "run", "execute"} and any(noun in TERMINAL_NOUNS for noun in nouns):
        return TERMINAL_TOOLS
    narrow = [name for noun in nouns for name in by_noun(lemma, noun)]
    if narrow and not (set(nouns) & _GENERIC):
        return tuple(dict.fromkeys(narrow))
    known = BANS.get(lemma)
    if known is not None:
        return known
    table = vocabulary()
    names = table.by_verb.get(lemma, ())
    return tuple(name for name in names if table.capabilities[name].risk is not Risk.READ)


_WEB_VERBS = frozenset("open use visit browse search access read fetch google follow click".split())
_WEB_NOUNS = frozenset("link url page site website webpage web internet online".split())
_WEB = ("web.read", "web.search", "web.post", "browser.navigate", "browser.interact")
"""What a ban on following links or using the internet covers."""

_GENERIC = frozenset(
    """
    file files folder document data thing note report message email mail reply summary table list money
    """.split()
)
"""Nouns that do not narrow a ban: "don't delete files" forbids deleting."""
