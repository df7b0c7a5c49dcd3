# ruff: noqa: RUF001, E501  (words of many scripts)
"""How mail clients mark what is not the person's own: separators, attribution lines, header names. Data only.

Adding a language means adding its words here; `isolation` holds no words of any language.
"""

from __future__ import annotations

SEPARATORS = (
    "forwarded",
    "weitergeleitet",
    "transféré",
    "reenviado",
    "encaminhado",
    "inoltrato",
    "doorgestuurd",
    "转发",
    "転送",
    "переслано",
    "forwarded message",
    "forwarded by",
    "original message",
    "begin forwarded message",
    "start of forwarded message",
    "reply above this line",
    "original appointment",
    "weitergeleitete nachricht",
    "ursprüngliche nachricht",
    "originalnachricht",
    "weitergeleitete e-mail",
    "anfang der weitergeleiteten nachricht",
    "message transféré",
    "message d'origine",
    "message original",
    "début du message transféré",
    "message réexpédié",
    "mensaje reenviado",
    "mensaje original",
    "inicio del mensaje reenviado",
    "mensagem encaminhada",
    "mensagem original",
    "início da mensagem reencaminhada",
    "messaggio inoltrato",
    "messaggio originale",
    "inizio messaggio inoltrato",
    "doorgestuurd bericht",
    "oorspronkelijk bericht",
    "begin doorgestuurd bericht",
    "vidarebefordrat meddelande",
    "ursprungligt meddelande",
    "videresendt besked",
    "oprindelig meddelelse",
    "videresendt melding",
    "opprinnelig melding",
    "välitetty viesti",
    "alkuperäinen viesti",
    "wiadomość przekazana",
    "przekazana wiadomość",
    "wiadomość oryginalna",
    "oryginalna wiadomość",
    "iletilen mesaj",
    "orijinal mesaj",
    "původní zpráva",
    "přeposlaná zpráva",
    "пересылаемое сообщение",
    "пересланное сообщение",
    "исходное сообщение",
    "начало переадресованного сообщения",
    "оригинальное сообщение",
    "转发邮件",
    "转发的邮件",
    "原始邮件",
    "轉寄郵件",
    "原始郵件",
    "邮件原件",
    "転送されたメッセージ",
    "転送メッセージ",
    "元のメッセージ",
    "전달된 메일",
    "전달된 메시지",
    "원본 메시지",
    "원본 메일",
    "الرسالة الأصلية",
    "الرسالة المعاد توجيهها",
    "رسالة معاد توجيهها",
    "رسالة محولة",
    "अग्रेषित संदेश",
    "मूल संदेश",
    "अग्रेषित किया गया संदेश",
)
"""What stands between dashes, or alone on a line, before a forwarded or answered mail."""

ATTRIBUTION_ENDS = (
    "wrote",
    "writes",
    "said",
    "says",
    "schrieb",
    "schrieb am",
    "schreibt",
    "sagte",
    "a écrit",
    "écrit",
    "a dit",
    "escribió",
    "ha escrito",
    "escribe",
    "dijo",
    "escreveu",
    "escreve",
    "disse",
    "ha scritto",
    "scrive",
    "ha detto",
    "schreef",
    "schrijft",
    "zei",
    "skrev",
    "kirjoitti",
    "napisał",
    "napisał(a)",
    "napisała",
    "pisze",
    "yazdı",
    "napsal",
    "napsal(a)",
    "написал",
    "написал(а)",
    "написала",
    "пишет",
    "сказал",
    "写道",
    "寫道",
    "写到",
    "说",
    "のメール",
    "は書きました",
    "が書きました",
    "さんは書きました",
    "のメッセージ",
    "작성",
    "님이 작성",
    "님이 씀",
    "썼습니다",
    "كتب",
    "كتبت",
    "قال",
    "ने लिखा",
    "लिखा",
    "लिखते हैं",
)
"""The word before the colon that ends an attribution line: "On Tue, Eve wrote:"."""

FROM = frozenset(
    """
    from von de da van från fra lähettäjä od kimden от 发件人 寄件者 差出人 보낸사람 من प्रेषक expéditeur remitente mittente
    absender
    """.split()
)
"""Names of the header that says who sent a mail: its presence makes a block of headers somebody's mail."""

SENT = frozenset(
    """
    sent date gesendet datum envoyé enviado enviada enviadoel enviadoem inviato data verzonden fecha skickat sendt
    lähetetty wysłano gönderildi tarih отправлено дата 发送时间 日期 送信日時 日付 보낸날짜 날짜 التاريخ तारीख भेजा received
    reply-to message-id
    """.split()
)

ADDRESSED = frozenset(
    """
    to cc bcc subject an kopie betreff à objet para asunto cco assunto a oggetto aan onderwerp till ämne til
    emne vastaanottaja aihe do temat kime konu кому копия тема 收件人 抄送 主题 主旨 宛先 件名 받는사람 참조 제목 إلى الموضوع प्रति
    विषय attachments anlagen
    """.split()
)
"""Headers that a person may dictate too: "Send this email: To: … Subject: …"."""

DICTATES = frozenset(
    """
    send email e-mail mail write compose draft sende senden schick schicke schreib schreibe verfasse envoie
    envoyer envoyez écris écrire rédige envía envia enviar manda escribe escreva escreve redige invia inviare
    scrivi manda verstuur stuur schrijf mejl skicka отправь отправьте напиши напишите 发送 发邮件 写 发 送信 送って 書いて 보내
    작성해 أرسل اكتب भेजें भेजो लिखें
    """.split()
)
"""Words of the line before dictated headers; without one of them a block of headers is shown, not dictated."""

HOST_BLOCKS = (
    "--- attached context ---",
    "--- context warnings ---",
    "[attached context]",
    "[context]",
    "[end of message]",
    "## attached files",
    "# attached files",
    "## attached context",
    "# context from",
    "## script output",
    "## output from job",
)
"""Lines by which agent hosts append files and pages to a message; all that follows is theirs."""

TAG_NAMES = frozenset(
    """
    pasted paste pasted-content pasted-text pasted-file attachment attachments attached attached-file
    attached-files attached-content attached-context attached_files document documents doc file files
    file-content file-contents context channel-context memory-context additional-context quote quoted blockquote
    email mail message-history webpage web-page page search-results search-result tool-result tool-results
    tool-output function-results function-result result results output stdout stderr log logs data untrusted
    untrusted-content untrusted-data external external-content content snippet selection selected-text
    ide-selection ide-opened-file editor-context environment-details system-reminder reminder
    local-command-stdout command-output transcript conversation history clipboard article source sources
    reference references code pre example examples input text body xml html json svg script style
    """.split()
)
"""Names of tags (with ``_`` read as ``-``) that hosts and people put around what they show the agent."""

USER_TAGS = frozenset(
    """
    user-query user-request user-message user-instruction user-input user request instruction instructions task query
    prompt question message
    """.split()
)
"""Tags by which hosts mark the person's own words."""

LAYOUT = frozenset("p div span ul ol center section table h1 h2 h3 h4 h5 h6".split())
"""Tags of formatting that stand around whole passages of a page."""

FORMATTING_TAGS = (
    frozenset(
        """
        p div span b i u s em strong small br hr a ul ol li h1 h2 h3 h4 h5 h6 font center section table tr td th tbody
        """.split()
    )
    | USER_TAGS
)
"""Tags around a person's own words; what they hold is read on."""

FORWARDS = ("fw:", "fwd:", "wg:", "tr:", "rv:", "enc:", "转发:", "转发：", "転送:", "전달:")
"""How the subject of a forwarded mail begins."""

POINTS = (
    "below following unten folgend ci-dessous suivant abajo siguiente abaixo seguinte sotto seguente hieronder volgende "
    "以下 下面 次の 下記 아래 다음 ниже следующ التالي أدناه नीचे निम्न"
).split()
"""Words that point at a block under them."""

READS_TEXT = (
    "summarize summarise summary translate proofread rewrite rephrase paraphrase explain analyze analyse classify "
    "zusammenfassen fasse übersetze übersetz erkläre résume résumer traduis traduire explique resume resumir traduce "
    "traduzca traduza traduzir riassumi traduci samenvat vertaal vat 总结 翻译 解释 要約 翻訳 요약 번역 переведи резюмируй لخص ترجم "
    "सारांश अनुवाद"
).split()
"""What is done to a text that is shown after a colon."""

LOOKS_AT = (
    "check correct review improve polish shorten simplify reword rate evaluate assess interpret critique grammar spelling "
    "typos mean means meaning read answer reply respond extract categorize categorise detect identify "
    "prüfe überprüfe korrigiere verbessere lies beantworte bewerte corrige vérifie lis réponds améliore revisa lee responde "
    "mejora verifica verifique corrija leia controlla correggi leggi rispondi controleer verbeter lees beantwoord"
).split()
"""What is done to a text as well, but also to things: only where the lead-in points at a text."""

THIS_TEXT = (
    "this these those text texts sentence sentences paragraph paragraphs phrase phrases line lines snippet "
    "diesen dieses diese dies text texte satz sätze absatz ce cet cette ces texte textes phrase phrases este esta esto "
    "estos estas texto textos frase frases isto isso questo questa questi queste testo testi frasi dit deze tekst zin zinnen "
    "这 這 この これ 이 этот это эти текст هذا यह"
).split()
"""Words that point at a text, wherever it stands."""

ACTS_ON = frozenset(
    "fix implement apply address resolve update make create add delete remove send follow push merge clean finish".split()
)
"""What is done to the things of a list rather than to its text: "fix the following"."""

TEXT_NOUNS = frozenset(
    "text texts sentence sentences paragraph paragraphs phrase phrases line lines snippet texte textes sätze satz phrase "
    "texto textos frase frases testo testi frasi tekst zin zinnen".split()
)
"""Words of a text, whatever is done to it."""

DOES_TASKS = frozenset(
    (
        "do perform complete execute handle run tasks task todo todos steps actions requirements rules instructions "
        "constraints guidelines criteria points format goals erledige mach führe aufgaben schritte anweisungen regeln "
        "fais tâches étapes consignes haz tareas pasos faça tarefas passos fai compiti doe taken stappen"
    ).split()
)
"""Words of a lead-in to the person's own list of things to do, or of how to do one."""

AFTERWARDS = (
    "then",
    "after that",
    "afterwards",
    "after this",
    "finally",
    "and then",
    "when done",
    "once done",
    "when you are done",
    "when you're done",
    "once you're done",
    "thanks",
    "thank you",
    "dann",
    "danach",
    "anschließend",
    "zum schluss",
    "danke",
    "puis",
    "ensuite",
    "enfin",
    "merci",
    "luego",
    "después",
    "gracias",
    "depois",
    "obrigado",
    "obrigada",
    "poi",
    "dopo",
    "grazie",
    "daarna",
    "bedankt",
    "然后",
    "その後",
    "затем",
    "потом",
    "спасибо",
)
"""How a person goes on after a text that they have shown."""

SPEECH_VERBS = (
    "asked",
    "asks",
    "asking",
    "told me",
    "tells me",
    "replied",
    "replies",
    "answered",
    "answers",
    "texted",
    "texted me",
    "wrote me",
    "wrote to me",
    "emailed me",
    "messaged me",
    "reads",
    "antwortete",
    "fragte",
    "meinte",
    "a répondu",
    "répond",
    "demande",
    "respondió",
    "preguntó",
    "respondeu",
    "perguntou",
    "ha risposto",
    "chiede",
    "antwoordde",
    "vroeg",
)
"""Further verbs before somebody's words in quotation marks."""
