"""What calls in code do, by name. Data only; `reading` reads it."""

from __future__ import annotations

from typing import Final

from agentsfence_core.model.action import TargetKind
from agentsfence_core.model.risk import Risk

Does = tuple[str, Risk, TargetKind]
"""Capability, class, and the kind of target that code hides."""

DELETE: Final[Does] = ("file.delete", Risk.DELETE, TargetKind.PATHS)
CHMOD: Final[Does] = ("file.permissions", Risk.PERMISSION_CHANGE, TargetKind.PATHS)
SHELL: Final[Does] = ("shell.exec", Risk.EXECUTION, TargetKind.PROGRAM)
POST: Final[Does] = ("web.post", Risk.EXTERNAL_WRITE, TargetKind.DOMAINS)
HTTP_DELETE: Final[Does] = ("web.delete", Risk.DELETE, TargetKind.DOMAINS)
FETCH: Final[Does] = ("web.read", Risk.READ, TargetKind.DOMAINS)
UPLOAD: Final[Does] = ("file.upload", Risk.EXTERNAL_WRITE, TargetKind.DOMAINS)
MAIL: Final[Does] = ("email.send", Risk.COMMUNICATION, TargetKind.RECIPIENTS)
MESSAGE: Final[Does] = ("message.send", Risk.COMMUNICATION, TargetKind.RECIPIENTS)
CHAT: Final[Does] = ("chat.send", Risk.COMMUNICATION, TargetKind.RECIPIENTS)
PAY: Final[Does] = ("payment.send", Risk.FINANCIAL, TargetKind.RECIPIENTS)
REFUND: Final[Does] = ("payment.refund", Risk.FINANCIAL, TargetKind.VALUES)
CLOUD_DELETE: Final[Does] = ("cloud.delete", Risk.DELETE, TargetKind.OBJECTS)
PUBLISH: Final[Does] = ("social.publish", Risk.COMMUNICATION, TargetKind.OBJECTS)

FULL: Final[dict[str, Does]] = {
    **dict.fromkeys(
        """
        os.remove os.unlink os.rmdir os.removedirs os.truncate pathlib.Path.unlink Deno.remove Deno.removeSync
        File.delete File.unlink Dir.rmdir Dir.delete Dir.unlink FileUtils.rm FileUtils.rm_r FileUtils.rm_rf
        FileUtils.rm_f FileUtils.remove FileUtils.rmtree FileUtils.remove_dir os.Remove os.RemoveAll Files.delete
        Files.deleteIfExists fs.remove fs.rm fs.unlink fs.rmdir fsp.rm fsp.unlink std.fs.remove_file
        fs.remove_file fs.remove_dir_all std.fs.remove_dir_all
        """.split(),
        DELETE,
    ),
    **dict.fromkeys(
        """
        os.chmod os.chown os.lchown fs.chmod fs.chown FileUtils.chmod File.chmod os.Chmod os.setxattr
        """.split(),
        CHMOD,
    ),
    **dict.fromkeys(
        """
        os.system os.popen os.startfile pty.spawn commands.getoutput subprocess.run subprocess.call
        subprocess.Popen subprocess.check_call subprocess.check_output subprocess.getoutput
        subprocess.getstatusoutput asyncio.create_subprocess_shell asyncio.create_subprocess_exec Deno.run
        Deno.Command Bun.spawn Bun.spawnSync child_process.exec child_process.fork child_process.spawn cp.exec
        cp.spawn Kernel.system Kernel.exec IO.popen Open3.capture2 Open3.capture3 Open3.popen3 exec.Command
        Runtime.exec Process.spawn
        """.split(),
        SHELL,
    ),
    **dict.fromkeys(
        """
        axios.post axios.put axios.patch ky.post got.post $.post jQuery.post superagent.post needle.post
        http.Post http.PostForm Net.HTTP.post Net.HTTP.post_form HTTParty.post Faraday.post RestClient.post
        navigator.sendBeacon socket.create_connection net.connect net.Socket net.Dial TCPSocket.new
        """.split(),
        POST,
    ),
    **dict.fromkeys("axios.delete ky.delete got.delete superagent.delete".split(), HTTP_DELETE),
    **dict.fromkeys(
        "smtplib.SMTP smtplib.SMTP_SSL Net.SMTP.start smtp.SendMail nodemailer.createTransport".split(), MAIL
    ),
    **dict.fromkeys(
        ("stripe.Charge.create stripe.PaymentIntent.create stripe.Transfer.create stripe.Payout.create").split(), PAY
    ),
    "stripe.Refund.create": REFUND,
}
"""Dotted name -> what it does."""

LAST: Final[dict[str, Does]] = {
    **dict.fromkeys(
        """
        rmtree unlink unlinkSync rmSync rmdirSync removeSync rimraf rimrafSync rmdir remove_tree send2trash
        deleteFile emptyDirSync
        """.split(),
        DELETE,
    ),
    **dict.fromkeys(
        "execSync spawnSync execFile execFileSync shell_exec passthru proc_open getstatusoutput".split(), SHELL
    ),
    **dict.fromkeys("sendBeacon storbinary storlines sendto".split(), POST),
    **dict.fromkeys("upload_file upload_fileobj put_object upload_blob upload_from_filename putObject".split(), UPLOAD),
    **dict.fromkeys(
        "delete_object delete_objects delete_bucket deleteObject terminate_instances delete_blob".split(), CLOUD_DELETE
    ),
    **dict.fromkeys("sendmail send_message sendMail send_email sendEmail send_raw_email".split(), MAIL),
    **dict.fromkeys("chat_postMessage postMessage_slack send_sms sendSms".split(), CHAT),
    **dict.fromkeys("create_tweet update_status".split(), PUBLISH),
    **dict.fromkeys(
        """
        send_raw_transaction send_transaction sendTransaction sendRawTransaction sendSignedTransaction
        """.split(),
        PAY,
    ),
}
"""Last part of a name that does the same on any object."""

BY_LANGUAGE: Final[dict[str, dict[str, Does]]] = {
    "perl": {
        "unlink": DELETE,
        "rmdir": DELETE,
        "system": SHELL,
        "exec": SHELL,
        "qx": SHELL,
        "chmod": CHMOD,
        "chown": CHMOD,
    },
    "ruby": {"system": SHELL, "exec": SHELL, "spawn": SHELL, "popen": SHELL},
    "php": {
        **dict.fromkeys(("unlink", "rmdir"), DELETE),
        **dict.fromkeys(("system", "exec", "popen"), SHELL),
        **dict.fromkeys(("chmod", "chown"), CHMOD),
        "mail": MAIL,
    },
    "javascript": {"exec": SHELL, "spawn": SHELL},
}
"""Bare names that mean something in one language only."""

BACKQUOTES_RUN: Final = frozenset({"perl", "ruby", "php"})

HTTP_MODULES: Final = frozenset(
    {"requests", "httpx", "aiohttp", "session", "client", "http", "urllib3", "s", "sess", "grequests", "treq"}
)
"""First part of a name behind which ``post``, ``put``, ``patch`` and ``delete`` are HTTP methods."""
HTTP_WRITES: Final = frozenset({"post", "put", "patch"})
READS_WEB: Final = frozenset({"urlopen", "urlretrieve", "fetch", "request", "Request", "open_url", "ajax"})
"""Calls whose other arguments say whether they read or write."""
SENDING_WORDS: Final = frozenset({"data", "body", "json", "files"})
SENDING_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "post", "put", "patch"})

LANGUAGES: Final = {
    "py": "python", "python3": "python", "python2": "python", "ipython": "python", "js": "javascript",
    "node": "javascript", "nodejs": "javascript", "ts": "javascript", "typescript": "javascript",
    "deno": "javascript", "bun": "javascript",
    "rb": "ruby", "pl": "perl",
}  # fmt: skip
