"""The tools that are known by name: `capabilities.yaml` is the table of capabilities, the others map tools to it."""

from agentsfence_core.classification.catalogue.rows import Meaning, Plan, Reader
from agentsfence_core.classification.catalogue.table import Catalogue, builtin

__all__ = ["Catalogue", "Meaning", "Plan", "Reader", "builtin"]
