"""What the adapter for LangChain and LangGraph says about itself. Importing this loads no LangChain."""

from agentsfence_core.ports import AdapterInfo

INFO = AdapterInfo(
    name="langchain",
    distribution="agentsfence-langchain",
    what="LangChain and LangGraph agents: callback handler, middleware and guarded tools",
    blind_spots=(
        "Tools that run at the model's provider are never seen; the middleware withholds them from the model.",
        "A model that was given such tools before it was handed to the agent keeps them.",
        "What a tool's body does by itself, without calling another tool, is not seen.",
        "Without guard(), a tool is not seen where callbacks do not reach: tool.func(), raw threads, callbacks=[].",
        "The callback handler sees arguments before defaults and validators; guard() sees them afterwards.",
        "A remote subagent runs elsewhere: fence it there.",
        "LangGraph may run a tool again after a crash between its effect and the checkpoint.",
    ),
)
