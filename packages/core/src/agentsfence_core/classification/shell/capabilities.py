"""The class of every capability that a command can have: the same as in ``catalogue/capabilities.yaml`` (tested).

Kept as a dict here so that reading a command never waits for a YAML file.
"""

from __future__ import annotations

from typing import Final

from agentsfence_core.model.risk import Risk

_NAMES: Final = {
    Risk.READ: """
        secret.read account.read task.read payment.read file.read file.search web.read web.search git.read
        repo.read process.read system.read container.read cloud.read database.read email.read
        """,
    Risk.LOCAL_WRITE: """
        file.write folder.create file.move file.copy file.download file.archive media.generate git.commit
        git.branch git.update git.config
        """,
    Risk.EXECUTION: """
        test.run build.run lint.run package.install script.run shell.exec code.exec process.control
        system.configure schedule.create container.run desktop.control
        """,
    Risk.EXTERNAL_WRITE: """
        file.upload web.post git.push git.overwrite repo.write repo.merge issue.create issue.update pr.create
        package.publish cloud.write deploy.run workflow.run database.write
        """,
    Risk.COMMUNICATION: "email.send message.send comment.create pr.review chat.send",
    Risk.DELETE: """
        file.delete git.delete repo.delete web.delete package.remove container.delete cloud.delete
        database.delete schedule.delete account.delete
        """,
    Risk.PERMISSION_CHANGE: """file.permissions file.share repo.admin cloud.admin database.admin account.security
        access.grant access.revoke fence.control""",
    Risk.FINANCIAL: "payment.send payment.refund",
}

RISK_OF: Final[dict[str, Risk]] = {name: risk for risk, names in _NAMES.items() for name in names.split()}
"""Capability -> class."""
