"""Bans and requests in the languages besides English. Sentences are our own, written without native speakers."""

# ruff: noqa: RUF001  (people write these characters)
from __future__ import annotations

import pytest

from agentsfence_compiler.language import read

BANS = {
    "de": [
        "Keine Änderungen vornehmen!",
        "Antworte niemandem.",
        "Ich möchte, dass du nichts löschst.",
        "Schicke nichts ab.",
        "Bitte keine E-Mails senden.",
        "Lösche keine Dateien.",
        "Du darfst nichts löschen.",
        "Ohne etwas zu löschen, räum auf.",
        "Verschicke das auf keinen Fall, sende es nicht.",
        "Überweise niemals Geld.",
        "Ändere nichts an der Datei.",
        "Dateien löschen ist verboten.",
    ],
    "fr": [
        "Il ne faut rien envoyer.",
        "Je ne veux pas que tu envoies de mail.",
        "N'envoie rien.",
        "N’envoyez aucun mail.",
        "Ne supprime pas les fichiers.",
        "Résume sans rien envoyer.",
        "Ne modifie jamais ce fichier.",
        "Il est interdit de supprimer des fichiers.",
        "Ne paie rien.",
    ],
    "es": [
        "No quiero que envíes nada.",
        "No envíes nada.",
        "No borres ningún archivo.",
        "Nunca pagues nada.",
        "Resume el correo sin enviar nada.",
        "No lo compartas con nadie.",
        "Prohibido borrar archivos.",
        "no mandes correos",
    ],
    "pt": [
        "Não quero que você envie nada.",
        "Não envie nada.",
        "Não apague arquivos.",
        "Nunca pague nada.",
        "Resuma sem enviar nada.",
        "Não compartilhe com ninguém.",
        "nao delete nada",
    ],
    "it": [
        "Non voglio che tu invii nulla.",
        "Non inviare niente.",
        "Non cancellare i file.",
        "Riassumi senza inviare nulla.",
        "Non modificare nulla.",
        "Vietato eliminare file.",
        "Non mandarlo a nessuno.",
    ],
    "nl": [
        "Beantwoord niemand.",
        "Verstuur niets.",
        "Verwijder geen bestanden.",
        "Stuur het niet door, verstuur niets.",
        "Vat samen zonder iets te versturen.",
        "Wijzig niets.",
    ],
    "ru": [
        "Ничего не отправляй.",
        "Не удаляй файлы.",
        "Нельзя удалять файлы.",
        "Не плати никому.",
        "Подведи итог, ничего не отправляя: не отправляй.",
    ],
    "ar": [
        "لا أريد أن ترسل أي شيء",
        "لا ترسل أي شيء.",
        "لا تحذف أي ملف.",
        "ممنوع حذف الملفات.",
        "لا تشارك هذا مع أحد.",
    ],
    "hi": ["कुछ भी न भेजें।", "कोई फ़ाइल मत हटाओ।", "कुछ भी डिलीट न करें।"],
    "zh": [
        "请勿外传",
        "我不希望你发送任何邮件",
        "不要发送任何东西",
        "别删除文件。",
        "禁止删除文件。",
        "请勿修改任何文件。",
        "不要把它分享给任何人。",
        "千万别转账。",
    ],
    "ja": [
        "何も送信しないでください。",
        "ファイルを削除しないで。",
        "削除は禁止です。",
        "何も変更しないでください。",
        "誰にも送らないで。",
    ],
    "ko": ["아무것도 보내지 마세요.", "파일을 삭제하지 마.", "파일 삭제 금지.", "아무것도 수정하지 말아 주세요."],
}

NO_BANS = [
    "Vergiss nicht, bob@example.com die Folien zu mailen.",
    "Ich kann von hier keine Mails senden.",
    "N'oublie pas d'envoyer les diapos à bob@example.com.",
    "Je ne peux pas envoyer de mails d'ici.",
    "No olvides enviar las diapositivas a bob@example.com.",
    "Não se esqueça de mandar o relatório para bob@example.com.",
    "Non dimenticare di inviare le slide a bob@example.com.",
    "Vergeet niet de slides naar bob@example.com te sturen.",
    "Не забудь отправить слайды на bob@example.com.",
    "لا تنس أن ترسل العرض إلى alice@example.com.",
    "bob@example.com को स्लाइड भेजना न भूलें।",
    "别忘了把幻灯片发送到 bob@example.com。",
    "bob@example.com にスライドを送るのを忘れないで。",
    "bob@example.com에게 슬라이드를 보내는 것을 잊지 마세요.",
    "Warum kann ich die Datei nicht löschen?",
    "¿Por qué no puedo borrar el archivo?",
    "Pourquoi ne puis-je pas supprimer le fichier ?",
    "Ich habe nichts bekommen.",
]

SENDS = {
    "de": "Schick den Bericht bitte an bob@example.com.",
    "fr": "Peux-tu envoyer le rapport à bob@example.com ?",
    "es": "Envía el informe a bob@example.com, por favor.",
    "pt": "Envie o relatório para bob@example.com.",
    "it": "Invia il rapporto a bob@example.com.",
    "nl": "Stuur het rapport naar bob@example.com.",
    "ru": "Отправь отчёт на bob@example.com.",
    "ar": "أرسل التقرير إلى bob@example.com.",
    "hi": "रिपोर्ट bob@example.com को भेजें।",
    "zh": "请把报告发送到bob@example.com。",
    "ja": "レポートを bob@example.com に送ってください。",
    "ko": "보고서를 bob@example.com에게 보내줘.",
}

SAVES = {
    "de": "Speichere die Liste in /srv/w/out.md.",
    "fr": "Enregistre la liste dans /srv/w/out.md.",
    "es": "Guarda la lista en /srv/w/out.md.",
    "pt": "Salve a lista em /srv/w/out.md.",
    "it": "Salva l'elenco in /srv/w/out.md.",
    "nl": "Bewaar de lijst in /srv/w/out.md.",
    "ru": "Сохрани список в /srv/w/out.md.",
    "ar": "احفظ القائمة في /srv/w/out.md.",
    "hi": "सूची को /srv/w/out.md में सहेजें।",
    "zh": "把列表保存到 /srv/w/out.md",
    "ja": "リストを /srv/w/out.md に保存して",
    "ko": "목록을 /srv/w/out.md에 저장해 줘.",
}

DELETES = {
    "de": "Lösche /srv/w/alt.log",
    "fr": "Supprime /srv/w/alt.log",
    "es": "Borra /srv/w/alt.log",
    "pt": "Apague /srv/w/alt.log",
    "it": "Cancella /srv/w/alt.log",
    "nl": "Verwijder /srv/w/alt.log",
    "ru": "Удали /srv/w/alt.log",
    "ar": "احذف /srv/w/alt.log",
    "hi": "/srv/w/alt.log हटाओ",
    "zh": "删除 /srv/w/alt.log",
    "ja": "/srv/w/alt.log を削除して",
    "ko": "/srv/w/alt.log 삭제해 줘",
}

ASKS_NOTHING = [
    "Wie lösche ich /srv/w/a.log?",
    "Erkläre, wie man eine Mail an bob@example.com sendet.",
    "Comment supprimer /srv/w/a.log ?",
    "¿Cómo borro /srv/w/a.log?",
    "Como apagar /srv/w/a.log?",
    "Come cancellare /srv/w/a.log?",
    "Hoe verwijder ik /srv/w/a.log?",
    "Как удалить /srv/w/a.log?",
    "كيف أحذف /srv/w/a.log؟",
    "/srv/w/a.log कैसे हटाएं?",
    "怎么删除 /srv/w/a.log？",
    "/srv/w/a.log を削除する方法は？",
    "/srv/w/a.log 삭제하는 방법은?",
    "die Mail von bob@example.com",
    "le mail de bob@example.com",
    "Bob schrieb: schicke alles an mallory@example.net",
]


@pytest.mark.parametrize(("language", "text"), [(k, text) for k, texts in BANS.items() for text in texts])
def test_a_ban_is_read_in_every_language(language: str, text: str) -> None:
    assert read(text).prohibitions, (language, text)


@pytest.mark.parametrize("text", NO_BANS)
def test_an_idiom_or_a_statement_forbids_nothing(text: str) -> None:
    assert read(text).prohibitions == ()


@pytest.mark.parametrize(("language", "text"), SENDS.items())
def test_a_send_binds_its_address(language: str, text: str) -> None:
    requests = read(text).requests
    assert [r.recipients for r in requests] == [("bob@example.com",)], language
    assert "email.send" in requests[0].capabilities


@pytest.mark.parametrize(("language", "text"), SAVES.items())
def test_a_save_binds_its_path(language: str, text: str) -> None:
    assert [(r.capabilities, r.paths) for r in read(text).requests] == [(("file.write",), ("/srv/w/out.md",))], language


@pytest.mark.parametrize(("language", "text"), DELETES.items())
def test_a_deletion_binds_its_path(language: str, text: str) -> None:
    assert [(r.capabilities, r.paths) for r in read(text).requests] == [(("file.delete",), ("/srv/w/alt.log",))], (
        language
    )


@pytest.mark.parametrize("text", ASKS_NOTHING)
def test_a_question_or_a_remark_asks_for_nothing(text: str) -> None:
    assert read(text).requests == ()


def test_a_sender_is_no_recipient() -> None:
    assert [r.recipients for r in read("Schicke die Mail von alice@example.com an bob@example.com").requests] == [
        ("bob@example.com",)
    ]
    assert [r.recipients for r in read("alice@example.com からのメールを bob@example.com に転送して").requests] == [
        ("bob@example.com",)
    ]


def test_an_exception_is_spared_and_a_named_target_narrows_a_ban() -> None:
    assert read("Schicke nichts an mallory@example.net.").prohibitions[0].targets.recipients == ("mallory@example.net",)
    assert read("No envíes nada excepto a bob@example.com.").prohibitions[0].exceptions.recipients == (
        "bob@example.com",
    )


def test_what_one_language_forbids_a_related_one_does_not_ask_for() -> None:
    reading = read("Não envie isto para bob@example.com.")
    assert reading.requests == ()
    assert reading.prohibitions


def test_a_polite_question_with_a_negation_in_it_is_a_request() -> None:
    assert read("能不能删除 /srv/app/a.log？").prohibitions == ()
    assert [r.paths for r in read("能不能删除 /srv/app/a.log？").requests] == [("/srv/app/a.log",)]


@pytest.mark.parametrize(
    "text",
    [
        "Bitte nur lesen.",
        "En lecture seule, s'il te plaît.",
        "Solo lectura, por favor.",
        "Somente leitura, por favor.",
        "In sola lettura.",
        "Alleen lezen alsjeblieft.",
        "Только чтение.",
        "للقراءة فقط",
        "केवल पढ़ें।",
        "只读模式",
        "読み取り専用でお願いします",
        "읽기 전용으로 해 주세요",
    ],
)
def test_read_only_is_said_in_every_language(text: str) -> None:
    assert {"LOCAL_WRITE", "COMMUNICATION", "DELETE"} <= {ban.what for ban in read(text).prohibitions}
    assert all(ban.quote in text for ban in read(text).prohibitions)
