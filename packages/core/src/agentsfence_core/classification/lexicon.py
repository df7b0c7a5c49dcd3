"""Words of tool names: which verbs act, which only look, and which nouns make an act a payment or a right.

Data only. A word stands in one list of verbs; `verbs` says how position decides among several.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from agentsfence_core.model.risk import Risk

if TYPE_CHECKING:
    from collections.abc import Mapping


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


LOOKS: Final = _split(
    "get is has can does are exists simulate fetch retrieve scroll sleep echo read find show describe lookup "
    "whoami inspect browse recall summarize summarise analyze analyse compare explain translate calculate "
    "compute scrape crawl geocode detect classify validate verify extract count estimate lint peek glob grep ls "
    "cat navigate transcribe ask whois explore discover autocomplete suggest recommend predict forecast "
    "tokenize embed measure parse decode resolve_name poll wait think reflect diff blame rank "
    "evaluate_expression research traceroute enumerate access observe ping"
)
"""Verbs that only look. What stands behind one is its object: ``get_wire_transfers``, ``list_trash``."""

LOOKS_OR_NOUN: Final = _split(
    "list query view search preview status stat watch monitor test check scan track filter head tail"
)
"""Looking verbs that are as often nouns: a plain acting verb later in the name decides (``query_cache_clear``)."""

PROVES_NOTHING: Final = _split(
    "take check sync manage process handle test support help use work go do perform maintain track"
)
"""Verbs that say nothing about what happens: ``check_in_guest``, ``sync_folders``, ``manage_email``."""

_ACTING: Final = {
    Risk.LOCAL_WRITE: (
        "download export dump generate render draw zip unzip compress decompress clone pack unpack touch "
        "remember memorize screenshot_save reformat refactor"
    ),
    Risk.EXTERNAL_WRITE: (
        "create undelete undo redo recover unsend sort hold report subscribe refresh backup vacuum remind "
        "freeze claim hang add update edit modify set put insert append write save store upload import push "
        "patch upsert merge move rename copy duplicate label tag mark star unstar pin unpin archive unarchive "
        "assign unassign attach detach link unlink_issue close reopen complete uncomplete finish resolve "
        "unresolve reset enable disable start stop restart pause resume toggle turn control lock unlock open "
        "activate deactivate register schedule reschedule fork apply deploy rollback scale restore replace fill "
        "click type press select drag hover follow unfollow like unlike join leave unsubscribe increment "
        "decrement play skip queue dispatch trigger sign reject accept decline snooze mute unmute react vote "
        "bookmark configure change adjust convert rerun submit request make place confirm approve new log "
        "record annotate organize organise sort_into connect disconnect mount unmount arm disarm dim print "
        "expand ingest index reindex train migrate alter provision release promote_build transition "
        "estimate_and_set block_card unblock_card shuffle seek raise assess_and_save expire invalidate flush "
        "swap_slot upgrade downgrade renumber merge_into capture_lead enroll unenroll crop resize overwrite "
        "put_back checkin unshare_screen extend shorten shift postpone propose nominate post_process "
        "subscribe_topic ship pick fulfill initialize init setup begin end finalize prepare draft compose "
        "set_up commit stage rebase pull stash revert cherry reserve_ip autofill stream upload_and link_up "
        "comment_out tweak amend correct fix compile_report acknowledge ack escalate page_out rewind crossfade "
        "load unload favorite unfavorite heart rate review respond_invite attend rsvp recharge_device "
        "launch_site initiate boost reblog renote upvote downvote unboost favourite unfavourite rebuild "
        "reorder rescan requeue "
        "recreate regenerate reprocess resync reconfigure redeploy reload relaunch recalibrate relabel retag reassign "
        "rewrite republish repin"
    ),
    Risk.EXECUTION: (
        "run execute exec eval evaluate invoke launch spawn compile build install shell bash kill reboot "
        "shutdown interrupt"
    ),
    Risk.COMMUNICATION: (
        "send repost reshare dial email mail message text reply respond forward post tweet retweet publish "
        "notify announce share_post comment dm broadcast contact answer call speak say tell inform crosspost "
        "alert sms mention distribute chat"
    ),
    Risk.DELETE: (
        "delete void remove destroy drop truncate purge erase wipe trash empty clear prune uninstall unlink rm "
        "rmdir del discard forget cancel terminate deprovision unpublish obliterate nuke evict tear teardown "
        "clean cleanup "
        "flushall wipeout expunge"
    ),
    Risk.PERMISSION_CHANGE: (
        "grant revoke assume share unshare invite uninvite authorize deauthorize chmod chown allow deny ban "
        "unban kick block unblock promote demote impersonate delegate protect unprotect rotate expose permit "
        "whitelist blacklist allowlist elevate entitle suspend unsuspend"
    ),
    Risk.FINANCIAL: (
        "pay buy purchase order checkout transfer wire refund charge withdraw deposit donate tip trade sell bid "
        "stake unstake book reserve rent exchange bill invoice fund airdrop renew repay borrow lend invest "
        "redeem topup capture payout reimburse mint cashout remit settle disburse chargeback"
    ),
}

ACTS: Final[Mapping[str, Risk]] = MappingProxyType(
    {word: risk for risk, words in _ACTING.items() for word in words.split() if "_" not in word}
)
"""Acting verb -> the class it has where the table of capabilities knows nothing closer."""

ALSO_NOUN: Final = _split(
    "sort hold backup exchange bill invoice fund report claim void dump order charge refund trade transfer tip "
    "bid book deposit message reply mail email text post tweet comment trash archive star pin label tag mark "
    "link fork branch commit release deploy build run call invite record log block patch set export import "
    "queue vote like play draft checkout request wire stake rent purchase chat stream page alert sign image "
    "note task file folder schedule lock control start stop end answer sms mention print review rate index "
    "change dispatch capture pull stage stash cherry pick shift ship load mount register share bash shell "
    "install place chargeback retweet contact process report test track watch list query view search monitor pause "
    "swap store light permit copy payout"
)
"""Acting words that are nouns where another verb or a word of state stands in the name: ``order_history``."""

HARD: Final = frozenset(word for word in ACTS if word not in ALSO_NOUN)
"""Acting words that are never a thing."""

STATES: Final = _split(
    "connection connectivity credentials status state history info information detail details log logs metric "
    "metrics stat stats schema schemas tree balance balances version versions health result results count "
    "counts statistics analytics availability freebusy capabilities preview diff rates price prices overview "
    "forecast directions weather metadata usage summary activity activities progress timeline feed definition "
    "docs documentation quote quotes permissions options report reports events list count types categories "
    "fields properties attributes references contents content snapshot positions portfolio trending suggestions "
    "recommendations transcript whoami me elevation distance timezone geocode limits quota thread threads "
    "requests messages chart charts index indices inventory stock leaderboard standings scores holders candles "
    "ticker tickers hours location locations coordinates route routes itinerary logs top hover references "
    "symbols diagnostics schemas statement statements profile profiles facts news headlines definition synonyms "
    "lyrics reviews ratings comments replies members participants subscribers followers following viewers "
    "contributors owners users roles groups teams labels tags branches commits releases issues files folders "
    "tables columns databases collections indexes buckets pods nodes namespaces deployments services containers "
    "images volumes networks orders payments transactions invoices customers products"
)
"""Nouns that name something to look at: behind a noun they make a read (``order_history``, ``pods_top``)."""

LOOKED_UP: Final = _split(
    "help forecast directions weather whoami freebusy availability balance history status info information "
    "details overview summary results usage activity metrics analytics statistics timeline schema tree "
    "metadata headlines news quote quotes "
    "definition elevation distance timezone geocode reverse_geocode autocomplete suggestions recommendations "
    "trending lyrics transcript captions calculator currenttime time date now today version health ping whois "
    "dns symbols diagnostics hover references top stats logs log feed leaderboard standings scores candles "
    "ticker holdings positions portfolio itinerary changelog readme docs documentation snapshot screenshot "
    "sequentialthinking thinking thought"
)
"""Words that, last in a name without any verb, name an answer: ``weather_forecast``."""

LIGHT: Final = _split(
    "start run execute schedule trigger perform do process handle manage batch bulk auto queue submit request "
    "confirm force try quick mass multi complete make initiate begin finalize invoke call use safe safely place "
    "approve issue create new add prepare click tap"
)
"""Verbs that carry another: ``confirm_delete``, ``process_refund``, ``batch_send``."""

ADJECTIVES: Final = _split("open new complete live")
"""Acting words that say which things behind a looking verb: ``list_open_issues``."""

ASKS: Final = _split("get is has can does do are exists")
"""Looking verbs behind which a verb is the thing asked for: ``get_update``, ``can_delete``."""

SELDOM_THINGS: Final = _split("set start stop end lock write")
"""Acting words that can be nouns and, at the end of a name that opens with what is acted on, seldom are."""

STARTS: Final = _split("start stop lock write mark")
"""Those of them that are no things even behind a verb that only looks: ``find_my_device_lock``."""

OF_ALL: Final = _split("archive trash star pin mark label tag mute export import publish share link lock start stop")
"""Acting nouns that are the act in front of *all*: ``list_archive_all``."""

RESOLVED: Final = _split(
    "id ids name names url uri address path handle dns hostname host domain dependency dependencies symbol reference "
    "location did alias ip entity type library package user username channel module import imports place"
)
"""Things that are looked up when they are resolved; an issue, a thread or a conflict is changed."""

TELLING: Final = _split(
    "rate rates status state history info information detail details log logs metrics stats statistics "
    "analytics count schema"
)
"""Words of state that are never the object of an act on the noun before them: ``order_history``."""

TOLD: Final = _split(
    "exchange bill invoice fund backup order payment transfer trade charge refund build run queue call invite "
    "record book release deposit message mail email request purchase test task file branch commit dispatch wire "
    "rent draft link alert place stream sms ship capture payout review"
)
"""Acting nouns whose state can be asked for."""

STOP: Final = _split(
    "a an the all any new my your our this that by to for from in into of with on at via as per one many "
    "multiple single async bulk batch id ids by v1 v2 v3 rest tool tools name names now if exists not using up "
    "down out off over back mcp function"
)
"""Words that are neither verb nor object."""

PREPOSITIONS: Final = _split("to for from in into of with on at via by as per using within between after before about")

MONEY: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            "payment transfer payout charge wire withdrawal deposit donation tip funds money remittance bill "
            "pay autopay".split(),
            "payment.send",
        ),
        **dict.fromkeys("refund chargeback".split(), "payment.refund"),
        **dict.fromkeys("order purchase checkout subscription cart basket bet wager".split(), "purchase.order"),
        **dict.fromkeys("trade swap stake".split(), "trade.execute"),
        **dict.fromkeys("booking reservation".split(), "booking.create"),
    }
)
"""Nouns that make a verb of doing a payment: ``create_refund``, ``submit_order``, ``process_payment``."""

MOVES_MONEY: Final = _split(
    "request claim apply enable void create make place submit process execute initiate confirm capture complete "
    "approve send schedule start issue perform do trigger run add finalize authorize new accept release handle "
    "update modify set click tap"
)

TRACKED: Final = _split("package parcel shipment order delivery flight price train bus stock")
"""Things that are followed by looking: ``track_shipment``. Elsewhere *track* may as well record."""

RIGHTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "public": "file.share",
        "private": "file.share",
        "api key": "account.security",
        "access key": "account.security",
        "access token": "account.security",
        "two factor": "account.security",
        "two factor authentication": "account.security",
        "authentication": "account.security",
        "deploy key": "repo.admin",
        "ssh key": "account.security",
        "branch protection": "repo.admin",
        "service account": "cloud.admin",
        "security group": "cloud.admin",
        "forwarding address": "email.forwarding",
        **dict.fromkeys(
            "role permission acl access collaborator admin owner ownership privilege entitlement sharing grant "
            "policy scope".split(),
            "access.grant",
        ),
        **dict.fromkeys(
            "password credential passkey fa mfa totp otp token apikey secret webauthn".split(), "account.security"
        ),
        **dict.fromkeys("member membership moderator participant_role guest".split(), "access.grant"),
        **dict.fromkeys("forwarding delegate".split(), "email.forwarding"),
        **dict.fromkeys("visibility protection sshkey".split(), "repo.admin"),
        **dict.fromkeys("iam firewall".split(), "cloud.admin"),
    }
)
"""Nouns whose change is a change of rights: ``attach_user_policy``, ``update_password``."""

CHANGES_RIGHTS: Final = _split(
    "create add update set put insert attach detach remove change reset enable disable modify patch assign "
    "unassign rotate generate edit write make manage transfer new apply register delete"
)

SPEAKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys("message sms dm call".split(), "message.send"),
        **dict.fromkeys("reply email mail".split(), "email.send"),
        **dict.fromkeys("comment".split(), "comment.create"),
        **dict.fromkeys("tweet post announcement story".split(), "social.publish"),
        **dict.fromkeys("notification alert broadcast".split(), "message.send"),
        **dict.fromkeys("invitation invite".split(), "access.grant"),
    }
)
"""Nouns that make a verb of making a message to others: ``create_comment``, ``conversations_add_message``."""

MAKES: Final = _split("create add make submit new put insert write dispatch queue push start place trigger compose")

SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **dict.fromkeys(
            "get fetch retrieve view show describe inspect lookup".split(),
            ("get", "read", "show", "list", "search", "check"),
        ),
        **dict.fromkeys("list enumerate browse".split(), ("list", "read", "show", "search", "get")),
        **dict.fromkeys("search find query".split(), ("search", "find", "query", "list", "read", "get")),
        **dict.fromkeys("read access".split(), ("read", "get", "show", "open")),
        "check": ("check", "read", "list", "get"),
        "create": ("create", "make", "write"),
        "new": ("create", "add", "make"),
        "add": ("add", "create"),
        "insert": ("insert", "add", "create"),
        "append": ("append", "add", "write", "update"),
        **dict.fromkeys(
            "update edit modify change patch set put adjust".split(), ("update", "edit", "change", "modify", "set")
        ),
        **dict.fromkeys("upsert replace overwrite".split(), ("replace", "update", "write")),
        **dict.fromkeys(
            "delete remove destroy drop truncate purge erase wipe trash rm del discard".split(),
            ("delete", "remove", "destroy"),
        ),
        "cancel": ("cancel", "delete"),
        "terminate": ("terminate", "delete", "destroy"),
        "uninstall": ("uninstall", "remove"),
        **dict.fromkeys("reply respond forward".split(), ("reply", "send", "respond")),
        **dict.fromkeys("post publish".split(), ("post", "publish", "send")),
        **dict.fromkeys("reserve book rent".split(), ("book", "reserve", "rent")),
        **dict.fromkeys("buy purchase order".split(), ("buy", "purchase", "order")),
        **dict.fromkeys("execute exec run invoke".split(), ("run", "execute")),
        "reschedule": ("reschedule", "update", "move"),
        **dict.fromkeys("schedule".split(), ("schedule", "create")),
        **dict.fromkeys("invite".split(), ("invite", "add")),
        **dict.fromkeys("kick ban suspend".split(), ("kick", "ban", "remove")),
        **dict.fromkeys("complete finish".split(), ("complete", "update", "close")),
        "enable": ("enable", "turn", "set"),
        "disable": ("disable", "turn", "set"),
        "disarm": ("arm", "set"),
        "unlock": ("lock", "open"),
        "register": ("register", "create"),
        "save": ("save", "create", "write"),
        "upload": ("upload",),
        "transfer": ("transfer", "send", "move"),
    }
)
"""Verb of a name -> verbs of the table that say the same, closest first."""
