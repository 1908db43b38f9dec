"""LangGraph: a checkpointer and a store.

    from novelo import Novelo
    from novelo.langgraph import NoveloSaver, NoveloStore

    client = Novelo("http://127.0.0.1:7420")
    graph = builder.compile(checkpointer=NoveloSaver(client), store=NoveloStore(client))
"""

from ._saver import NoveloSaver
from ._store import NoveloStore

__all__ = ["NoveloSaver", "NoveloStore"]
