"""Words and pairs that the language engine looks up: data only, one use each."""

from __future__ import annotations

from agentsfence_compiler.language.targets import Role
from agentsfence_core.model import Risk

CONNECTORS = frozenset({"and", "then", "but", "or", "so", "plus", "nor", "&", "also", "yet", "while"})

COMMAS = frozenset({",", ":", "-", "--", "\u2013", "\u2014", "(", ")", "\u2192", "/", "|", ">", "=>", "->", "\u060c"})

ENDS = frozenset({".", "!", "?", ";", "\u2026", "\u061b", "\u061f", "\u3002", "\uff01", "\uff1f", "\uff1b", "\u0964"})

SPLIT_WORDS = CONNECTORS | frozenset(
    {"just", "please", "instead", "only", "pls", "without", "afterwards", "finally", "next"}
)

HEADERS = frozenset({"to", "cc", "bcc", "subject", "from", "an", "betreff", "para", "asunto", "objet"})

LOOSE = frozenset({"don't", "dont", "do", "never", "donot"})

POLITE = frozenset({"please", "pls", "plz", "kindly", "can", "could", "would", "will"})

AUXILIARIES = frozenset(
    """
    is are was were am be been has have had do does did can could will would shall should may might must isn't
    aren't wasn't
    """.split()
)

BARE_VERBS = frozenset(
    """
    reply respond commit push deploy merge publish submit install upload download upgrade restart rebuild save
    send delete lint compile pay
    """.split()
)

EXPLAINING = frozenset("explain describe define clarify tell show teach learn understand discuss know help".split())

LEAD_INS = frozenset("do perform follow complete execute run finish process handle take try start begin work".split())

PHRASE_VERBS = {
    ("set", "up"): "create",
    ("type", "check"): "typecheck",
    ("dispose", "of"): "delete",
    ("clean", "up"): "clean",
    ("tidy", "up"): "clean",
    ("back", "up"): "copy",
    ("look", "up"): "look",
    ("look", "for"): "look",
    ("look", "at"): "look",
    ("look", "into"): "look",
    ("look", "through"): "look",
    ("force", "push"): "force-push",
    ("get", "rid"): "delete",
    ("put", "together"): "create",
    ("write", "down"): "write",
    ("note", "down"): "write",
    ("write", "up"): "write",
    ("write", "back"): "reply",
    ("get", "back"): "reply",
    ("sign", "up"): "subscribe",
    ("follow", "up"): "reply",
    ("reach", "out"): "message",
    ("drop", "off"): "move",
    ("check", "out"): "check",
    ("check", "in"): "commit",
    ("fill", "in"): "fill",
    ("fill", "out"): "fill",
    ("log", "in"): "log",
    ("sign", "in"): "sign",
    ("turn", "off"): "turn",
    ("turn", "on"): "turn",
    ("shut", "down"): "stop",
    ("spin", "up"): "start",
    ("kick", "off"): "start",
    ("take", "down"): "delete",
    ("take", "a"): "look",
    ("have", "a"): "look",
    ("take", "out"): "remove",
    ("send", "out"): "send",
    ("mail", "out"): "send",
    ("fire", "off"): "send",
    ("pass", "on"): "send",
    ("pass", "along"): "send",
    ("loop", "in"): "cc",
    ("hit", "up"): "message",
    ("throw", "away"): "delete",
    ("throw", "out"): "delete",
    ("free", "up"): "clean",
    ("roll", "back"): "revert",
    ("roll", "out"): "deploy",
    ("top", "up"): "pay",
    ("call", "off"): "cancel",
    ("make", "sure"): "verify",
    ("find", "out"): "find",
    ("give", "me"): "show",
    ("tell", "me"): "show",
    ("show", "me"): "show",
    ("let", "me"): "show",
    ("send", "me"): "show",
    ("send", "us"): "show",
    ("tell", "us"): "show",
    ("get", "me"): "show",
    ("give", "us"): "show",
    ("remind", "me"): "show",
    ("ask", "me"): "show",
    ("write", "me"): "show",
    ("read", "me"): "show",
    ("make", "me"): "show",
    ("draft", "me"): "show",
    ("post", "here"): "show",
    ("hand", "over"): "send",
    ("set", "a"): "set",
    ("get", "word"): "message",
    ("drop", "a"): "message",
    ("jot", "down"): "write",
    ("type", "up"): "write",
    ("print", "out"): "print",
    ("move", "on"): "continue",
}

ROLES = {
    "to": Role.TO,
    "into": Role.TO,
    "onto": Role.TO,
    "towards": Role.TO,
    "toward": Role.TO,
    "\u2192": Role.TO,
    "in": Role.INSIDE,
    "inside": Role.INSIDE,
    "within": Role.INSIDE,
    "under": Role.INSIDE,
    "on": Role.INSIDE,
    "at": Role.INSIDE,
    "as": Role.AS,
    "from": Role.SOURCE,
    "by": Role.SOURCE,
    "via": Role.SOURCE,
    "using": Role.SOURCE,
    "of": Role.OF,
    "with": Role.WITH,
    "about": Role.TOPIC,
    "regarding": Role.TOPIC,
    "re": Role.TOPIC,
    "concerning": Role.TOPIC,
    "for": Role.FOR,
    "not": Role.EXCEPT,
    "without": Role.EXCEPT,
    "like": Role.SOURCE,
    "based": Role.SOURCE,
    "through": Role.SOURCE,
    "per": Role.SOURCE,
    "against": Role.TOPIC,
    "between": Role.OF,
    "than": Role.EXCEPT,
    "outside": Role.EXCEPT,
    "over": Role.INSIDE,
    "called": Role.OBJECT,
    "named": Role.OBJECT,
    "saying": Role.TOPIC,
}

OBJECT_NOUNS = {
    "file": "file",
    "document": "file",
    "event": "event",
    "meeting": "event",
    "appointment": "event",
    "calendar event": "event",
    "branch": "branch",
    "tag": "tag",
    "package": "package",
    "library": "package",
    "module": "package",
    "image": "image",
    "container": "container",
    "service": "service",
    "database": "database",
    "table": "table",
    "label": "label",
    "repo": "repo",
    "repository": "repo",
    "issue": "issue",
    "ticket": "issue",
    "pr": "pr",
    "pull request": "pr",
    "merge request": "pr",
    "playlist": "playlist",
    "product": "product",
    "order": "order",
    "invoice": "invoice",
    "project": "project",
    "task": "task",
    "note": "note",
    "page": "page",
    "bucket": "bucket",
    "workflow": "workflow",
    "job": "job",
    "folder": "folder",
    "hotel": "booking",
    "restaurant": "booking",
    "bill": "file",
    "calendar": "calendar",
    "draft": "draft",
    "subscription": "subscription",
    "process": "process",
    "role": "role",
    "secret": "secret",
    "remote": "remote",
}

NUMBERED = frozenset({"order", "issue", "pr", "ticket", "pull request", "invoice", "task", "booking"})

IDENTIFIED = frozenset(
    {
        "branch",
        "tag",
        "table",
        "container",
        "service",
        "database",
        "bucket",
        "remote",
        "workflow",
        "image",
        "repo",
        "label",
    }
)

CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december today tomorrow tonight mon tue wed thu fri sat sun jan feb mar apr jun
    jul aug sep oct nov dec christmas easter gmail outlook slack discord google github i
    """.split()
)

DID = frozenset("is was has had will wrote sent said asked shared gave mentioned uses used needs wants".split())

MEASURES = frozenset(
    """
    hour hours minute minutes second seconds day days week weeks month months year years percent am pm people
    persons line lines word words sentence sentences bullet bullets paragraph paragraphs % o'clock times
    """.split()
)

PACKAGE_NOUNS = frozenset({"package", "dependency", "library", "module", "plugin", "extension", "requirement"})

DEFINITE = frozenset({"the", "this", "that", "these", "those", "my", "our", "your", "his", "her", "their", "its"})

MAKING = frozenset("create set schedule book plan make put update move reschedule".split())
"""Verbs whose object is a thing; people come with "with"."""

TRANSFERRING = frozenset(
    """
    export convert save copy extract translate summarize summarise transcribe download generate unzip compress
    zip back pack tar unpack store dump print list compile draft write put archive
    """.split()
)
"""Verbs that write where they go to, not where they take from."""

OUTPUTTING = frozenset("get summarize summarise translate transcribe extract list convert outline compare".split())
"""Reading verbs that may ask for an explicit output: "summarize it to /a/b.md"."""

STRICTLY_BELOW = frozenset(
    """
    delete remove erase wipe clean purge trash clear discard edit move rename organize modify change update
    """.split()
)

MESSAGE_NOUNS = frozenset(
    {
        "email",
        "mail",
        "message",
        "reply",
        "answer",
        "response",
        "sms",
        "text",
        "dm",
        "direct message",
        "channel message",
        "invitation",
        "draft",
        "note",
    }
)

REMOTES = frozenset({"origin", "upstream", "fork"})

BRANCHES = frozenset({"main", "master", "develop", "dev", "trunk", "staging", "production", "release", "gh-pages"})

PROGRAMS = frozenset(
    """
    npm yarn pnpm npx make pytest cargo go git docker python python3 pip pip3 node bash sh ruff mypy tox nox uv
    poetry mvn gradle ./gradlew kubectl terraform ansible php composer bundle rake rails dotnet swift flutter
    deno bun just tsc eslint prettier black jest vitest ls cat grep find curl wget ssh scp rsync systemctl
    service brew apt apt-get
    """.split()
)

PACKAGE_NOISE = frozenset(
    """
    latest newest current version versions globally locally both all missing required necessary needed following
    new it them everything via and or the a package packages please now again also stable dev prod python node
    module modules for me
    """.split()
)

PARTICIPLE_FRAMES = frozenset(
    {"should", "must", "needs", "need", "has", "have", "is", "are", "ought", "shall", "can", "may", "to"}
)

OWNERS = frozenset(
    {"her", "his", "their", "its", "recipient", "recipients", "addressee", "to", "cc", "send-to", "iban", "account"}
)

ADDRESS_WORDS = frozenset(
    {
        "address",
        "email",
        "e-mail",
        "mail",
        "recipient",
        "recipients",
        "iban",
        "account",
        "number",
        "phone",
        "handle",
        "addresses",
        "emails",
        "contact",
    }
)

HOSTED = frozenset(
    {
        "repo",
        "repository",
        "release",
        "gist",
        "wiki",
        "webhook",
        "pull request",
        "pr",
        "merge request",
        "mr",
        "collaborator",
        "team",
        "deploy key",
        "visibility",
        "branch protection",
        "public",
    }
)
"""Nouns of a hosted repository."""

NO_COUNT = frozenset({Risk.LOCAL_WRITE, Risk.EXECUTION})

VAGUE = frozenset(
    """
    it them this that these those everything anything all one ones both something everyone anyone now please
    again off on up down out in
    """.split()
)

THINGS_ONLY = frozenset({"organize", "share", "sort"})
"""Verbs that ask for nothing unless a file or a party is named: "share the names", "sort all users"."""

FEW = frozenset({"few", "couple", "bunch", "lot", "number", "series", "set", "bit"})

REACHED = frozenset({Role.OBJECT, Role.TO, Role.INSIDE, Role.AS})

PARTY_CLASSES = frozenset({Risk.COMMUNICATION, Risk.PERMISSION_CHANGE, Risk.FINANCIAL})

NEEDS_YOU = frozenset(
    {
        "can",
        "can't",
        "cant",
        "cannot",
        "won't",
        "wont",
        "will",
        "might",
        "need",
        "should",
        "shouldn't",
        "shouldnt",
        "may",
        "ought",
    }
)
"""Negated modals: an order only to "you" ("I can't send mails from my phone" forbids nothing)."""

BEFORE_NOUNS = frozenset(
    {"no", "without", "w/o", "avoid", "skip", "from", "of", "on", "off", "stop", "cease", "for", "any", "all"}
)
"""Negations that stand before a noun: "no replies"; after "don't" or "never" only a verb counts."""

TIGHT = frozenset({"untouched", "alone", "unchanged", "intact", "unmodified", "as-is", "as"})

PAST = frozenset({"was", "were", "has", "have", "had", "been", "could", "can", "can't", "cannot", "couldn't"})

DENIALS = frozenset(
    {
        "not",
        "never",
        "no",
        "nothing",
        "nobody",
        "none",
        "noone",
        "mustn't",
        "shouldn't",
        "needn't",
        "shan't",
        "mustnt",
        "shouldnt",
        "neither",
    }
)

PRODUCTION = frozenset({"production", "prod", "live", "staging"})

INFRASTRUCTURE = (
    "deploy.run",
    "cloud.write",
    "cloud.delete",
    "process.control",
    "container.run",
    "container.delete",
    "workflow.run",
    "database.write",
    "database.delete",
    "git.push",
)

RISKY = frozenset({"destructive", "dangerous", "irreversible", "risky", "harmful"})

WRITING_BANS = frozenset({"touch", "change", "modify", "alter", "edit", "update", "overwrite", "write"})

DESCRIBED_PATHS = {
    "test": ("**/tests/**", "**/test/**", "**/test_*", "**/*_test.*", "**/*.test.*", "**/*.spec.*", "tests", "test"),
    "test suite": ("**/tests/**", "**/test/**", "**/test_*", "tests", "test"),
    "unit test": ("**/tests/**", "**/test_*", "tests", "test"),
    "docs": ("**/docs/**", "docs"),
    "documentation": ("**/docs/**", "docs"),
    "readme": ("**/README*", "README.md"),
    "config": ("**/*config*", "**/*.cfg", "**/*.ini", "**/*.toml"),
    "migration": ("**/migrations/**", "migrations"),
}

CLOUDY = frozenset(
    "instance bucket stack cluster cloud dns deployment resource function domain role policy iam".split()
)
"""Nouns that speak of a cloud; a server or a service alone is here."""

STOPPING = frozenset(
    """
    stop cancel abort halt forget scrap scratch never mind nevermind enough please it that this now everything all ok
    okay wait no oh actually immediately right about whole thing the changed my i've i on second thought thoughts
    """.split()
)
"""A clause of these words alone calls everything off, if one of `CALLING_OFF` is among them."""

CALLING_OFF = frozenset("stop cancel abort halt forget scrap scratch mind nevermind".split())

UNDONE = frozenset(
    """
    don't do not never actually really please it that this so any of these those things them yet anymore now just for
    real execute perform you but
    """.split()
)
"""A ban of these words alone takes back what was asked for: "don't actually do it"."""

DRY_RUN = frozenset(
    """
    this is it's only just a dry run dry-run drill simulation please for now make it as treat do everything all that
    """.split()
)

EXPLAINED = frozenset(
    """
    just only simply merely tell show me us explain how what you would you'd do it that the a plan first to please this
    i want be done
    """.split()
)
"""A clause of these words alone wants words instead of deeds: "just tell me how"."""

TAKING_BACK = (
    ("never", "mind"),
    ("nevermind",),
    ("forget", "about"),
    ("forget",),
    ("scrap",),
    ("scratch",),
    ("skip",),
    ("omit",),
    ("leave", "out"),
    ("cancel", "that"),
)
"""How a clause begins that takes back what it names."""

TAKEN_BACK = frozenset("the that this my our your any all to for and or with about please again then now it".split())
"""Words around what is taken back; any other word makes the clause something else."""

ACCESS_ROLES = {
    "reader": ("reader", "viewer", "read", "view", "r", "read-only", "readonly"),
    "commenter": ("commenter", "comment", "commentator"),
    "writer": ("writer", "editor", "write", "edit", "rw", "w", "read-write", "readwrite"),
    "owner": ("owner", "ownership"),
    "admin": ("admin", "administrator"),
    "member": ("member",),
}
"""A role and the ways in which people and services write it; a grant in one of them covers no other role."""

ROLE_WORDS = {word: role for role, words in ACCESS_ROLES.items() for word in words if len(word) > 2}

COMPOUNDS = frozenset(
    """
    results result notes history conflicts instructions notifications recommendations settings status failures failure
    failed fails errors error coverage options logs number numbers size sizes counts rate date dates times guide manual
    steps works worked broke crashed
    """.split()
)
"""Words behind "test", "push", "commit" … that make both the name of a thing."""

SAYING = frozenset(
    """
    answer answers paragraph sentence tone wording explanation joke poem story haiku intro conclusion phrase idea ideas
    suggestions thoughts opinion style numbers
    """.split()
)
"""What an answer is made of: "change the tone", "format the answer" ask for words, not for a file."""

INSERTED = frozenset({"first", "also", "then", "still", "now", "only", "just", "really", "always", "additionally"})
"""Adverbs inside an order: "you first have to"."""

COURTESY = frozenset(
    {"please", "pls", "plz", "thanks", "thx", "now", "ok", "okay", "hi", "hey", ",", ".", "!", "$", ":"}
)
"""Words around a command that was typed as the message."""

SPOKEN_PROGRAMS = frozenset(
    "make go just find cat service bundle black swift flutter composer jest rake rails node bun ls sh".split()
)
"""Programs whose name is an English word."""

TARGETS_OF_MAKE = frozenset("test tests build install clean lint check docs all dist format vet mod".split())

SUBCOMMANDS = frozenset(
    """
    install uninstall run test build push pull commit add status log diff checkout switch clone fetch merge rebase init
    ci start stop restart publish update upgrade remove apply get delete logs exec ps up down compose images stash tag
    branch reset revert sync lock plan describe rollout scale remote sh bash pip
    """.split()
)
"""What follows a program where its name and the next word are a command, not a remark about it."""

DOCUMENTS = frozenset("file document doc spreadsheet sheet script note notebook page".split())

FIELDS = frozenset(
    """
    address number name iban account amount date time location phone email recipient recipients title url link value
    price id room colour color username password
    """.split()
)
"""What stands before a colon where a value follows, not the text of a message."""

QUANTITIES = frozenset("much many long often big large old far high tall soon late expensive".split())
"""Behind "how": a question of quantity, which explains nothing."""

MEDIA = {
    "email": ("email.send",),
    "mail": ("email.send",),
    "sms": ("message.send",),
    "text": ("message.send",),
    "dm": ("message.send", "chat.send"),
    "direct message": ("message.send", "chat.send"),
    "message": ("message.send", "chat.send"),
    "chat": ("chat.send", "message.send"),
    "slack": ("chat.send", "message.send"),
    "teams": ("chat.send", "message.send"),
    "discord": ("chat.send", "message.send"),
    "whatsapp": ("message.send",),
}
"""Through what a message goes, behind "by" or "via"."""

CODED = frozenset({"file", "document", "folder", "page", "draft", "project", "note"})
"""Nouns behind which only a code with a digit is a name: "file f7", not "file read-only"."""

FILING = frozenset("create append add write save update edit put insert make generate".split())
"""Verbs that make a file or add to it."""

DAYTIMES = frozenset("morning evening afternoon night noon midnight".split())

PERIODS = DAYTIMES | frozenset(
    """
    day week weekday weekend month quarter year hour minute monday tuesday wednesday thursday friday saturday sunday
    """.split()
)
"""What "every" makes a schedule of."""

STORES = frozenset(
    """
    file disk folder directory document database table log memory drive repo repository spreadsheet sheet page note
    calendar cell row server bucket config readme
    """.split()
)
"""What one writes to that is nobody: "don't write to any file"."""

EVERY = frozenset({"all", "everyone", "everybody", "everything", "every", "each"})
"""Behind a negation: not to all, which leaves the ones that are named; "any" leaves none."""

SWITCHED = {
    "on": ("turn_on", "on"),
    "off": ("turn_off", "off"),
    "lock": ("lock",),
    "unlock": ("unlock",),
    "open": ("open_cover", "open"),
    "close": ("close_cover", "close"),
}
"""What is done to a thing at home, and the names of the services that do it."""

BUILDS = ("all", "build", "default", "compile")
"""Targets of a build tool that only build."""

BUILT = frozenset("docs html pdf dist wheel bundle app site image binary debug".split())
"""Targets of a build tool that only build what the words name."""

ALLOWING = frozenset("allow let permit allowing letting permitting authorize".split())

LEAVING = frozenset("nothing data information file files document documents word content secret secrets copy".split())
"""What is sent when it leaves: "no data may leave this machine"."""

ORDERING = frozenset(
    "sure ensure certain it insist important essential crucial vital guarantee want wish expect mind".split()
)
"""Before "that": what follows is ordered."""

MODES = frozenset(
    "mode access please only task session job operation operations work for today now thanks and but".split()
)
"""Behind "read-only": it says how to work."""

MUSING = frozenset("we they somebody someone he she it people one everybody everyone nobody".split())
"""Who "should" do something some day: no order to the agent."""

WHATEVER = frozenset(
    """
    you do doing does anything everything any something action actions step steps each every take taking make making
    before first go ok okay approval confirmation permission signal green light go-ahead ahead consent word start
    starting proceed proceeding act acting begin beginning continue continuing with it that this please single change
    changes me to of the or a explicit executing execute and
    """.split()
)
"""What "ask me before" is followed by when it means whatever is done."""

KEPT = frozenset({"stay", "remain", "survive"})
"""What must do so is not to be deleted."""

DENYING = (
    "forbidden",
    "prohibited",
    "off limits",
    "off-limits",
    "don'ts",
    "not allowed",
    "not permitted",
    "must not do",
    "not to do",
)
"""What the head of a list of bans says, where it opens with no negation."""

WISHES = frozenset(
    {("i", "need"), ("i", "want"), ("i'd", "like"), ("we", "need"), ("we", "want"), ("i'll", "need"), ("would", "like")}
)
"""How one says what one wants to have."""

PLAIN_VERBS = frozenset("run push deploy publish install upload restart post email buy pay execute book".split())
"""Verbs that stay verbs behind "or", although they are nouns too: "don't delete files or run commands"."""

HAVING_BEEN = frozenset(
    "been file files document documents folder page email emails mail mails message messages letter reply it".split()
)
"""Before a participle: what was done to it is told ("the mail sent to bob@x.example"), nothing is wanted."""

LONG_AGO = frozenset("yesterday earlier ago already previously last before".split())

HAPPENING = frozenset(
    """
    keeps fails failing hangs crashes takes breaks works stops gives says throws shows needs freezes complains seems
    returns prints always sometimes often again still
    """.split()
)
"""What is said of a command, not typed after it: "docker build keeps failing"."""

LEFT_OVER = frozenset("rest remainder surplus excess overpayment leftover".split())
"""Money, when it is given back."""

HAVING = frozenset("have had has already just once also previously did all both 've".split())
RELATING = frozenset(
    """
    that which who whom what where when how why if unless because since while once until whether whose so saying
    """.split()
)
"""Words behind which a finite verb makes no statement of its own."""

ADDRESSED = frozenset("addressed belonging directed related owed due assigned".split())
"""Participles that only tell whose something is: "the mails addressed to eve@x.example"."""

FINITE = frozenset(
    """
    is are was were isn't aren't wasn't weren't has hasn't haven't had looks look seems seem contains belongs complained
    got gets will won't
    """.split()
)
"""Verbs that make a statement of the words before them."""

SUBJECTS = frozenset("i you we he she they it this that i've you've we've they've i'd you'd we'd i'll you'll".split())
"""Who did it, behind "like": what follows is told."""

SUBORDINATE = frozenset("because since before after until while".split())

REFERRING = frozenset(
    """
    reference references import imports mention mentions link links dependency dependencies usage usages pointer
    pointers citation citations include includes occurrence occurrences
    """.split()
)
"""What points to a file: "the import of b.py from a.py" is a part of a.py, and b.py is not touched."""

LOOKING = frozenset(
    """
    read reading open opening view viewing look looking access accessing inspect inspecting scan scanning search
    searching browse browsing visit visiting fetch fetching query examine peek crawl scrape load go use using contact
    connect
    """.split()
)
"""Verbs that only look."""

ONLINE = frozenset("internet web online website websites webpage webpages".split())

READ_STORES = {
    "email": "email",
    "mail": "email",
    "inbox": "email",
    "mailbox": "email",
    "chat": "chat",
    "calendar": "calendar",
    "contact": "contact",
    "address book": "contact",
    "memory": "memory",
    "secret": "secret",
    "credential": "secret",
    "drive": "drive",
    "database": "database",
}
"""What is read in one place of its own, and the family of its capabilities."""

REPORTED_WISH = frozenset(
    """
    wants wanted asks asked tells told demands demanded orders ordered instructs instructed expects expected advises
    advised urges urged begs begged
    """.split()
)
"""Verbs of somebody's wish that is told, not asked for."""
