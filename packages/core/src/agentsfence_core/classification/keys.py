"""What an argument's name says about its value: a party, a path, an address on the web, an object, a value, or text.

Rules of this file:

* A key means the same in every spelling: ``channelId``, ``channel_id`` and ``Channel-ID`` are one key.
* Whom a call acts *as* (``from``, account selectors) and which message it answers are not whom it reaches.
* A key that says nothing is `Role.PLAIN`; what its value looks like then decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.names import NAME_LENGTH, fold_key, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class Role(Enum):
    """What kind of thing an argument holds."""

    PLAIN = auto()
    """Nothing is known; a value that is itself an address, a URL or a path counts as one."""
    RECIPIENT = auto()
    """A party that the call reaches."""
    PARTY = auto()
    """A user or place: a party of a send, a payment or a change of rights, else an object."""
    SELECTOR = auto()
    """Whom the call acts as, or which message it answers: never a party."""
    CONTENT = auto()
    """Text that the call carries; never searched for targets."""
    HEADER = auto()
    """One line of text that becomes a header of a mail: searched for smuggled header lines only."""
    QUERY = auto()
    """Words to look for; a target only where the whole value is a URL."""
    MIME = auto()
    """A whole RFC 822 message."""
    PATH = auto()
    LOCAL_PATH = auto()
    """A path on this machine even where the tool's other paths are a service's."""
    SOURCE_PATH = auto()
    """A path that is read so that another one is written."""
    PATTERN = auto()
    URL = auto()
    HOOK = auto()
    """A URL that is called or told: a party as well."""
    DOMAIN = auto()
    OBJECT = auto()
    ID = auto()
    VALUE = auto()


@dataclass(frozen=True, slots=True)
class KeyRole:
    """A role, with the object kind or value name where the role has one."""

    role: Role
    name: str = ""


PLAIN: Final = KeyRole(Role.PLAIN)
ODD_KEY: Final = KeyRole(Role.PLAIN, "odd")
"""The role of a key that is no text: whatever a host calls an argument, its value is read."""

_EXACT: Final[Mapping[Role, str]] = MappingProxyType(
    {
        Role.RECIPIENT: (
            "to cc bcc torecipients ccrecipients bccrecipients recipient recipients recipientid recipientids "
            "recipientemail recipientemails toemail toemails toaddress toaddresses emailto addressee attendees "
            "attendee attendeeemails participants participant invitees invitee guests guest guestids guestemail "
            "guestemails channel channels channelid channelids channelname chatid chat chats chatids chatname "
            "roomid room conversationid conversation target targets phone phonenumber phonenumbers tonumber "
            "tophone smsto mobile sendto deliver deliverto sharedwith sharewith grantee granteeid delegateemail "
            "forwardingemail forwardto redirectto jid groupjid chatjid peer payee payees payeeid payeename "
            "beneficiary creditor iban toiban toaccount toaccountid toaccountnumber destinationaccount "
            "destinationiban bankaccountid recipientaccount receiver receiverid receivername walletaddress "
            "towallet destinationaddress emails email emailaddress emailaddresses useremail memberemail "
            "inviteemail invite mentions reviewers requestedreviewers subscribers listids audience targetuser "
            "targetuserid dmto contactid contacts merchant vendor seller hotel restaurant company airline "
            "rentalcompany supplier charity collaborator collaborators handle sendtoemail notifyemails ccemails "
            "bccemails mailto counterparty counterpartyid "
            "ccaddress bccaddress toid touser touserid openid groupid targetid groupcode"
        ),
        Role.PARTY: (
            "user users username usernames userid userids member members memberid memberids accountid login "
            "principal principalid grantees team teamslug teamid group groups invitedusers assignee assignees "
            "assigneeid screenname profileid"
        ),
        Role.SELECTOR: (
            "from sender senderemail fromemail fromaddress fromname sendername account accounts accountname "
            "accountemail usergoogleemail profile mailbox inbox fromaccount fromaccountid fromaccountnumber "
            "sourceaccount sourceaccountid inreplyto references replytomessageid replytoid quotedmessageid "
            "threadts ts threadid parentid onbehalfof actas impersonate session sessionid requestid "
            "correlationid idempotencykey owneremail author authoremail committer signature locale language "
            "lang timezone tz format encoding mimetype contenttype model temperature limit offset page pagesize "
            "pagetoken cursor perpage maxresults top skip sort order orderby includedomains excludedomains "
            "alloweddomains blockeddomains sendupdates conferencetype mode visibilityfilter fields projection "
            "workdir cwd workingdir workingdirectory timeout background region zone apikey token accesstoken "
            "password secret useragent headersnames schemaversion apiversion"
        ),
        Role.CONTENT: (
            "body text message messages content contents html htmlbody texthtml bodyhtml bodytext textbody "
            "plaintext markdown msg caption comment comments note notes description prompt instruction "
            "instructions richtext blocks payload reason question oldstring newstring oldstr newstr oldtext "
            "newtext oldcontent newcontent filetext filecontent newsource replacement insertline insertion code "
            "script source_code expression sql statement command commands cmd args goal context thought "
            "reasoning explanation answer reply messagetext messagebody emailbody lyrics transcript summarytext "
            "find replace searchtext replacetext contentbase64 data todos pattern_text altText comment_text "
            "value_text sticker artifacts metadata properties values rows records cells documents insertvalues"
        ),
        Role.HEADER: "subject replyto replytoaddress",
        Role.QUERY: (
            "query q search searchquery searchterm searchterms keyword keywords term filter filters "
            "question_text jql cql where ql regex name_contains text_contains"
        ),
        Role.MIME: "raw mime rfc822 eml rawmessage rawemail mimemessage",
        Role.PATH: (
            "path paths file files filepath filepaths filename filenames notebookpath dir dirs directory "
            "directories folder folderpath destination dest dst destinationpath destpath targetpath outputpath "
            "outputfile outputdir output outfile outdir savepath savedir saveto downloadpath targetfile newpath "
            "newfilename to_path topath root rootpath rootdir basepath cwdpath repopath repositorypath "
            "projectpath yamlpath configpath workspacepath location manifest manifests storagepath remotepath "
            "key_path"
        ),
        Role.LOCAL_PATH: (
            "localpath localfile localfilepath localdir attachment attachments attachmentpath attachmentpaths "
            "mediapath mediafiles mediafile imagepath imagefile audiopath audiofile videopath videofile "
            "documentpath uploadpath sourcefile uploadfile inputfile inputpath pdfpath csvpath screenshotpath "
            "filestoattach filetoupload"
        ),
        Role.SOURCE_PATH: "source src sourcepath srcpath from_path frompath oldpath oldfilename sourcefilepath sources",
        Role.PATTERN: "pattern patterns glob globs globpattern fileglob include exclude includepattern",
        Role.URL: (
            "url urls uri uris link links href website webpage site imageurl videourl audiourl fileurl "
            "sourceurl feedurl starturl pageurl referenceimageurls image mediaurl mediaurls repourl giturl "
            "cloneurl baseurl address endpoint target_url redirecturl sitemap permalink imageurls documenturl "
            "pdfurl scripturl"
        ),
        Role.HOOK: (
            "webhook webhooks webhookurl callback callbackurl hook hookurl notificationurl notifyurl "
            "postbackurl pushendpoint pingurl webhookendpoint statuscallback slackwebhook discordwebhook postto"
        ),
        Role.DOMAIN: "domain domains host hosts hostname hostnames server serverhost smtpserver proxy proxyurl",
    }
)

_OBJECTS: Final = {
    "branch": (
        "branch branchname branches basebranch headbranch head base ref sourcebranch targetbranch newbranch "
        "defaultbranch frombranch"
    ),
    "repo": "repo repository reponame repositoryname repofullname projectpathwithnamespace forkname",
    "remote": "remote remotename",
    "tag": "tag tagname",
    "issue": "issuenumber issue issuekey issueiid issueidorkey ticketkey ticketnumber",
    "pr": "pullnumber pullrequestnumber prnumber pullrequestid mergerequestiid mriid pullrequestiid",
    "commit": "sha commitsha commit commithash",
    "package": "package packages packagename packagenames module modules dependency dependencies",
    "image": "imagename dockerimage imagetag",
    "container": "container containername",
    "database": "database databasename db dbname",
    "table": "table tablename tables collection collectionname",
    "bucket": "bucket bucketname",
    "calendar": "calendar calendarname calendarid",
    "event": "eventname eventtitle",
    "label": "label labels labelname addlabelids removelabelids labelids",
    "playlist": "playlist playlistname",
    "folder": "foldername newfoldername",
    "project": "project projectname projectkey projectslug",
    "key": "key keys cachekey objectkey",
    "secret": "secretname",
    "workflow": "workflow workflowid workflowname workflowfile pipeline",
    "service": "service servicename",
    "process": "pid processname",
    "resource": "resourcename entityid entityids arn namespace stackname clustername instancename functionname",
    "product": "symbol ticker sku asset product productname",
    "page": "pagetitle pagename",
    "contact": "contactname",
    "channel": "newchannelname",
}

_VALUES: Final = {
    "amount": (
        "amount amounts amt amountcents price total cost sum value_amount unitamount totalamount limitprice budget "
        "donation tip"
    ),
    "currency": "currency currencycode",
    "quantity": "quantity qty shares units count_units times repeat repetitions installments",
    "role": (
        "role roles permission permissions accesslevel access privilege privileges scope scopes permissionlevel "
        "policyarn policyname"
    ),
    "visibility": "visibility private public isprivate ispublic sharing",
    "scope": "type granttype",
    "start": "start starttime startdate startday newstarttime newstart startdatetime begin checkin checkindate",
    "end": "end endtime enddate endday newendtime newend enddatetime checkout checkoutdate",
    "date": "date datetime day duedate due duestring when scheduledate scheduledfor scheduledate sendat remindat",
    "schedule": "schedule cron cronexpression recurrence rrule recurring",
}

_WORDS: Final = {
    **dict.fromkeys(
        "recipient attendee participant invitee guest channel chat cc bcc payee beneficiary phone email mobile".split(),
        Role.RECIPIENT,
    ),
    **dict.fromkeys("user member username".split(), Role.PARTY),
    **dict.fromkeys("path file filepath filename dir directory folder".split(), Role.PATH),
    **dict.fromkeys("url uri link href website".split(), Role.URL),
    **dict.fromkeys("webhook callback hook".split(), Role.HOOK),
    **dict.fromkeys("domain host hostname".split(), Role.DOMAIN),
    **dict.fromkeys("id uuid guid ids token_id".split(), Role.ID),
    **dict.fromkeys(
        "body html caption comment note description text message content markdown prompt".split(), Role.CONTENT
    ),
    **dict.fromkeys("query search".split(), Role.QUERY),
}
_ACTS_AS: Final = frozenset("from sender my own source bot author owner current account google".split())
_SENDS_AS: Final = frozenset({"from", "sender", "send", "own"})
_ACCOUNTS: Final = frozenset({"account", "iban", "wallet", "address", "counterparty", "bank"})
_RECEIVING: Final = frozenset(
    "target destination dest to recipient beneficiary payee creditor receiver counterparty receiving credited".split()
)
"""Words in front of an account that say whose it is: the party that gets the money."""
_NOT_TO: Final = frozenset(
    "reply replied in up related relates belongs link linked move copy add assigned response according next "
    "back".split()
)
_NUMBERED: Final = frozenset({"email", "mail", "emails", "phone", "mobile"})
"""Words that name a thing, not a party, before ``id``: ``email_id`` is a message."""
_ENDS: Final = frozenset("id ids name names email emails address addresses number numbers list handle".split())


def _table() -> Mapping[str, KeyRole]:
    """Return the role of every key that is known as it stands."""
    table = {key.replace("_", "").casefold(): KeyRole(role) for role, keys in _EXACT.items() for key in keys.split()}
    table |= {key: KeyRole(Role.OBJECT, kind) for kind, keys in _OBJECTS.items() for key in keys.split()}
    table |= {key.replace("_", ""): KeyRole(Role.VALUE, name) for name, keys in _VALUES.items() for key in keys.split()}
    return MappingProxyType(table)


_TABLE: Final = _table()


@lru_cache(maxsize=8192)
def role_of(key: str) -> KeyRole:
    """Return what a key says about its value."""
    if len(key) > NAME_LENGTH:
        return PLAIN
    known = _TABLE.get(fold_key(key))
    if known is not None:
        return known
    return _by_words(words_of(key))


def _by_words(words: tuple[str, ...]) -> KeyRole:
    """Read a longer key by its last word: ``sms_to``, ``slack_channel``, ``customer_email``, ``backup_file_path``."""
    if not words:
        return PLAIN
    if any(_WORDS.get(word) is Role.HOOK for word in words):
        return KeyRole(Role.HOOK)
    last, before = words[-1], words[:-1]
    if last == "to" and before and before[-1] not in _NOT_TO:
        return KeyRole(Role.RECIPIENT)
    if last in {"id", "ids"} and before and before[-1] in _NUMBERED:
        return KeyRole(Role.ID)
    role = (_party_role(before) if last in _ENDS else None) or _WORDS.get(last) or _WORDS.get(last.removesuffix("s"))
    if role is None:
        if last in _ACCOUNTS and before and before[0] in _RECEIVING:
            return KeyRole(Role.RECIPIENT)
        known = _TABLE.get(last, PLAIN)
        if known.role in {Role.VALUE, Role.OBJECT}:
            return known
        return KeyRole(Role.SELECTOR) if words[0] in _SENDS_AS and before else PLAIN
    if role in {Role.RECIPIENT, Role.PARTY} and _ACTS_AS & set(before):
        return KeyRole(Role.SELECTOR)
    if role is Role.PATH:
        return KeyRole(_PATHS_BY_FIRST.get(words[0], Role.PATH))
    return KeyRole(role)


def _party_role(words: tuple[str, ...]) -> Role | None:
    """Return the role of ``recipient_id``, ``to_address``, ``members_list``: the word before the last one decides."""
    if not words:
        return None
    if words[0] == "to":
        return Role.RECIPIENT
    role = _WORDS.get(words[-1]) or _WORDS.get(words[-1].removesuffix("s"))
    return role if role in {Role.RECIPIENT, Role.PARTY} else None


_PATHS_BY_FIRST: Final = {
    **dict.fromkeys(("local", "upload", "attachment", "media"), Role.LOCAL_PATH),
    **dict.fromkeys(("source", "src", "old", "from"), Role.SOURCE_PATH),
}


TEXT_KEYS: Final = frozenset(
    "body text message content subject html htmlbody bodyhtml bodytext textbody plaintext markdown msg caption "
    "comment messagetext messagebody emailbody payload title note".split()
)
"""Folded names of arguments that are the text of a message."""

FILE_TEXT_KEYS: Final = frozenset(
    "content contents text filetext filecontent newcontent newstr newstring oldstr oldstring oldtext newtext "
    "data insertline newsource".split()
)
"""Folded names of arguments that are what is written into a file."""
