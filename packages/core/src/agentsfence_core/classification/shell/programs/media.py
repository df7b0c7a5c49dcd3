"""Pictures, sound, video and documents: they read one file and write another."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of


def _ffmpeg(call: Call, program: Program) -> None:
    """``ffmpeg -i in … out``: the last operand is written; an address is read or written to."""
    split = Split(call.words[1:], table_of(program), posix=False, single=True)
    for name, option, value in split.given:
        if value is not None and option.role is Role.READ:
            if "://" in value.text:
                call.url("web.read", value)
            else:
                call.path("file.read", value)
        del name
    for word in split.operands:
        if "://" in word.text:
            call.url("web.post", word)
        elif word.text not in {"-", "/dev/null"}:
            call.path("file.write", word)
    if not call.drafts:
        call.effect("file.read")


_EXIV2_VERBS = frozenset("ad adjust in insert rm delete mo modify mv rename ex extract fi fixiso fc fixcom".split())


def _exiv2(call: Call, _program: Program) -> None:
    """``exiv2`` prints; its verbs and ``-i``, ``-d``, ``-M`` change the files."""
    words = call.words[1:]
    operands = [word for word in words if word.text[:1] != "-"]
    verb = bool(operands) and operands[0].text in _EXIV2_VERBS
    acts = verb or any(
        word.text[:2] in {"-i", "-d", "-M", "-m", "-a", "-r", "-e", "-t", "-T", "-D", "-F"} for word in words
    )
    for word in operands[verb:]:
        call.path("file.write" if acts else "file.read", word)
    call.effect("file.write" if acts else "file.read")


def _exiftool(call: Call) -> None:
    """``-TAG=value`` changes the files; an expression in a format runs."""
    if any("${" in word.text and ";" in word.text for word in call.words[1:]):
        call.unseen("an expression in a format")
    names = [word.text for word in call.words[1:] if word.text[:1] == "-"]
    if any("=" in name for name in names):
        for word in call.words[1:]:
            if word.text[:1] != "-":
                call.path("file.write", word)


_PRINTS = frozenset({"antiword", "catdoc", "html2text"})
_LISTS = frozenset({"-list", "-v", "-h"})


def _extract(call: Call, program: Program) -> None:
    """``pdftotext a.pdf -`` prints; with a name, or with none, it writes a file."""
    split = by_row(call, program, call.words[1:])
    to = split.operands[1].text if len(split.operands) > 1 else "-" if call.words[0].text in _PRINTS else ""
    if to in {"-", "/dev/null", "/dev/stdout"} or any(word.text in _LISTS for word in call.words[1:]):
        call.drafts.pop("file.write", None)


_FFMPEG = Program(
    "file.write",
    options={
        Role.READ: "-i",
        Role.TEXT: "-c -codec -c:v -c:a -b:v -b:a -r -s -t -to -ss -f -vf -af -filter -filter_complex -map -preset -crf -vframes -frames:v "
        "-ar -ac -vn! -an! -y! -n! -loglevel -v -threads -pix_fmt -aspect -q:v -q:a -vcodec -acodec -movflags -metadata -itsoffset -framerate "
        "-hide_banner! -nostdin! -stats! -loop -shortest! -profile:v -level -g -bufsize -maxrate -strict",
    },
    single=True,
    hook=_ffmpeg,
)

PROGRAMS = {
    **rows("ffmpeg avconv", _FFMPEG),
    **rows("ffprobe", Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-v -show_entries -of -print_format -select_streams -i! -show_format! -show_streams!", Role.WRITE: "-o"}, single=True)),
    **rows("convert magick", Program("file.write", rest=Role.READ, last=Role.TARGET, options={Role.TEXT: "-resize -quality -crop -density -rotate -geometry -gravity -fill -font -pointsize -background -format -threshold -blur -border"}, single=True)),
    "exiv2": Program("file.read", hook=_exiv2),
    "identify": Program("file.read", rest=Role.TARGET, options={Role.WRITE: "-write", Role.TEXT: "-format -define -depth -density -size"}, single=True),
    "mogrify": Program("file.write", rest=Role.TARGET, options={Role.TEXT: "-resize -quality -format -path"}, single=True),
    **rows("sox cwebp dwebp lame flac oggenc opusenc rsvg-convert inkscape potrace img2pdf qrencode", Program("file.write", rest=Role.READ, last=Role.TARGET, options={Role.TARGET: "-o --output"})),
    **rows("optipng jpegoptim pngquant svgo exiftran jhead", Program("file.write", rest=Role.TARGET)),
    "exiftool": Program("file.read", before=_exiftool, rest=Role.TARGET, options={Role.UNSEEN: "-config -@ -execute! -if", Role.WRITE: "-o -out", Role.TEXT: "-d -dateFormat -ext -api"}, also={"file.write": "-overwrite_original -delete_original -w -textOut -w! -W -tagOut"}, single=True),
    **rows("pdftotext pdfimages pdftoppm pdfseparate ps2pdf pdf2ps pdftohtml antiword catdoc docx2txt html2text", Program("file.write", operands=(Role.READ, Role.TARGET), options={Role.TEXT: "-f -l -r -enc -x -y -W -H"}, single=True, hook=_extract)),
    **rows("pdftk qpdf pdfunite gs", Program("file.write", rest=Role.READ, last=Role.TARGET, options={Role.TEXT: "-s? -d? -f"})),
    **rows("libreoffice soffice unoconv", Program("file.write", rest=Role.READ, options={Role.TARGET: "--outdir", Role.TEXT: "--convert-to"})),
    **rows("wkhtmltopdf wkhtmltoimage weasyprint", Program("file.write", rest=Role.URL, last=Role.TARGET)),
    "tesseract": Program("file.write", operands=(Role.READ, Role.TARGET), options={Role.TEXT: "-l --psm --oem --dpi"}),
    **rows("dot neato plantuml mmdc", Program("file.read", rest=Role.TARGET, options={Role.WRITE: "-o", Role.READ: "-i", Role.TEXT: "-T?"}, also={"file.write": "-O"})),
    "gnuplot": Program("file.read", rest=Role.TARGET, sure=False),
    "whisper": Program("file.write", rest=Role.READ),
    **rows("mpv vlc ffplay aplay afplay paplay feh eog", Program("process.control", rest=Role.READ, options={Role.UNSEEN: "--script --config-dir"})),
    **rows("lp lpr", Program("web.post", rest=Role.READ, options={Role.TEXT: "-d -P -n -o -#"})),
    **rows("lpstat lpq", Program("system.read")),
}  # fmt: skip
