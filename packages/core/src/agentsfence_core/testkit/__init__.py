"""What adapters and stores must do, as pytest classes that a third party subclasses (DESIGN 10).

    from agentsfence_core.testkit.adapters import AdapterContract
    from agentsfence_core.testkit.stores import StoreContract

Nothing is imported here, so that each half needs only what it tests. Needs pytest: ``agentsfence-core[testkit]``.
"""
