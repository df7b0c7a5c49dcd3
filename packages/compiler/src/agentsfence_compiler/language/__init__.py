"""The language engine: a person's words to requests, bans and limits. Pure, and without a model."""

from agentsfence_compiler.language.prefilter import mentions_authority
from agentsfence_compiler.language.reader import read
from agentsfence_compiler.language.reading import Clause, Envelope, Reading, Request

__all__ = ["Clause", "Envelope", "Reading", "Request", "mentions_authority", "read"]
