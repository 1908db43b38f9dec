"""Bytes and time per turn of a chat graph: NoveloSaver beside SqliteSaver.

    python clients/python/bench/langgraph_savers.py --novelo target/release/novelo --turns 1000

A turn is a question of 200 characters and an answer of as many, through a graph of one node, which makes three checkpoints. The
server of Novelo runs in a directory of its own on loopback. Bytes are those of the files, for SQLite after its log was written back;
for Novelo also those of the export, which has no overhead of the store. Times are medians of the last ten turns.
Needs langgraph and langgraph-checkpoint-sqlite.
"""

import argparse
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Annotated, Any, Callable, Dict, List, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from novelo import Novelo
from novelo.langgraph import NoveloSaver


class State(TypedDict):
    messages: Annotated[List[AnyMessage], add_messages]


def text(n: int, who: str) -> str:
    return (f"{who} {n}: " + f"word{n % 97} tea garden harbour {n} " * 20)[:200]


def graph(saver: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("answer", lambda state: {"messages": [AIMessage(text(len(state["messages"]), "answer"))]})
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


def measure(name: str, saver: Any, turns: int, sizes: Callable[[], Dict[str, int]]) -> None:
    runs, config = graph(saver), {"configurable": {"thread_id": "t"}}
    times: List[float] = []
    for turn in range(1, turns + 1):
        start = time.perf_counter()
        runs.invoke({"messages": [HumanMessage(text(turn, "question"))]}, config)
        times.append(time.perf_counter() - start)
        if turn in (10, 100, 1000, turns):
            shown = "  ".join(f"{what} {size:,}" for what, size in sizes().items())
            print(f"{name:8} turn {turn:5}  {statistics.median(times[-10:]) * 1000:8.1f} ms a turn  {shown}", flush=True)
    assert len(runs.get_state(config).values["messages"]) == 2 * turns


def folder_bytes(folder: Path) -> int:
    """What they take on the disk: journals reserve more than they hold."""
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


def with_sqlite(turns: int, folder: Path) -> None:
    connection = sqlite3.connect(folder / "checkpoints.sqlite", check_same_thread=False)

    def sizes() -> Dict[str, int]:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return {"bytes": folder_bytes(folder)}

    measure("sqlite", SqliteSaver(connection), turns, sizes)
    connection.close()


def with_novelo(binary: str, turns: int, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with subprocess.Popen(
        [binary, "serve", "--addr", address, "--data", str(folder / "data")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            for _ in range(200):
                try:
                    urllib.request.urlopen(f"http://{address}/health/ready").close()
                    break
                except OSError:
                    time.sleep(0.1)
            with Novelo(f"http://{address}") as client:
                empty = folder_bytes(folder)
                def sizes() -> Dict[str, int]:
                    exported = sum(len(line) + 1 for line in client.export_user("langgraph"))
                    return {"bytes": folder_bytes(folder) - empty, "exported": exported}

                measure("novelo", NoveloSaver(client), turns, sizes)
        finally:
            server.terminate()


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--novelo", required=True)
    arguments.add_argument("--turns", type=int, default=1000)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with_novelo(given.novelo, given.turns, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        with_sqlite(given.turns, Path(folder))


if __name__ == "__main__":
    main()
