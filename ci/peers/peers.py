"""Novelo beside what people use today: the same work, one client, in interleaved rounds.

    python peers.py --novelo target/release/novelo --write docs/peers.md

Each peer does the work that it can do. A peer that cannot be started is listed with the reason.
Everything runs on loopback, in temporary directories, and ends by itself.
"""

import argparse
import http.client
import importlib.metadata
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
WORDS = "river lamp garden winter letter bridge market violin orchard harbour silver thunder meadow copper lantern".split()


def sentence(n, words=60):
    """Text of fixed length that differs for each n."""
    return " ".join(WORDS[(n * 7 + i * (1 + n % 5)) % len(WORDS)] for i in range(words)) + f" {n}"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Http:
    """One kept connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, {"content-type": "application/json"})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:200]!r}")
        return json.loads(content)


class Process:
    """A server of ours, which ends with the measurement."""

    def __init__(self, command, port, **options):
        self.child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        deadline = time.monotonic() + 60
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=1):
                    return
            except OSError:
                if self.child.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{command[0]} did not start")
                time.sleep(0.05)

    def end(self):
        self.child.terminate()
        self.child.wait(timeout=30)


def version(package):
    return f"{package} {importlib.metadata.version(package)}"


class Novelo:
    name = "Novelo over HTTP"
    durability = "each turn flushed to disk before the answer"

    def __init__(self, directory, options):
        port = free_port()
        command = [options.novelo, "serve", "--addr", f"127.0.0.1:{port}", "--data", str(directory / "novelo")]
        self.server = Process(command, port)
        self.http = Http(port)
        self.version = subprocess.run([options.novelo, "--version"], capture_output=True, text=True).stdout.strip()

    def turns(self, thread):
        return f"/v1/users/peer/threads/{thread}/turns"

    def append(self, thread, messages):
        for start in range(0, len(messages), 100):
            self.http.call("POST", self.turns(thread), {"messages": messages[start : start + 100]})

    def exchange(self, thread, user, assistant):
        self.http.call("POST", self.turns(thread), {"messages": [{"role": "user", "content": user}]})
        self.http.call("GET", self.turns(thread) + "?last=20")
        self.http.call("POST", self.turns(thread), {"messages": [{"role": "assistant", "content": assistant}]})

    def fill(self, thread, count):
        self.append(thread, [{"role": "user", "content": sentence(n)} for n in range(count)])

    def prepare_trim(self, messages):
        self.append("trim", messages)

    def trim(self, budget):
        body = {"user": "peer", "thread": "trim", "budget_tokens": budget}
        return len(self.http.call("POST", "/v1/context", body)["messages"])

    def prepare_search(self, texts):
        for text in texts:
            self.http.call("POST", "/v1/users/peer/memories", {"text": text})

    def search(self, query):
        return len(self.http.call("POST", "/v1/users/peer/memories/search", {"query": query, "k": 10})["hits"])

    def end(self):
        self.server.end()


class FastApiRedis:
    name = "FastAPI with Redis"
    durability = "Redis as shipped: snapshots now and then; a crash loses the turns since the last one"

    def __init__(self, directory, options):
        if not shutil.which("redis-server"):
            raise RuntimeError("redis-server is not installed")
        redis_port, port = free_port(), free_port()
        command = ["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--dir", str(directory)]
        self.redis = Process(command, redis_port)
        command = [sys.executable, "-m", "uvicorn", "fastapi_redis:app", "--port", str(port), "--no-access-log"]
        environment = {**os.environ, "REDIS_PORT": str(redis_port)}
        self.server = Process(command, port, cwd=HERE, env=environment)
        self.http = Http(port)
        self.version = ", ".join(map(version, ["fastapi", "uvicorn", "redis"]))

    def exchange(self, thread, user, assistant):
        path = f"/threads/{thread}/turns"
        self.http.call("POST", path, {"role": "user", "content": user})
        [json.loads(turn) for turn in self.http.call("GET", path + "?last=20")["turns"]]
        self.http.call("POST", path, {"role": "assistant", "content": assistant})

    def fill(self, thread, count):
        for n in range(count):
            self.http.call("POST", f"/threads/{thread}/turns", {"role": "user", "content": sentence(n)})

    def end(self):
        self.server.end()
        self.redis.end()


class LangGraphSqlite:
    name = "LangGraph, SQLite checkpoints"
    durability = "SQLite commit per step; in WAL mode a power loss can lose the last ones"

    def __init__(self, directory, options):
        from langchain_core.messages import AIMessage, HumanMessage
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.graph import START, MessagesState, StateGraph

        self.Human, self.answer = HumanMessage, ""
        self.saver = SqliteSaver.from_conn_string(str(directory / "langgraph.sqlite"))
        graph = StateGraph(MessagesState)
        graph.add_node("answer", lambda state: {"messages": [AIMessage(self.answer)]})
        graph.add_edge(START, "answer")
        self.graph = graph.compile(checkpointer=self.saver.__enter__())
        self.version = ", ".join(map(version, ["langgraph", "langgraph-checkpoint-sqlite"]))

    def exchange(self, thread, user, assistant):
        self.answer = assistant
        self.graph.invoke({"messages": [self.Human(user)]}, {"configurable": {"thread_id": thread}})

    def fill(self, thread, count):
        messages = [self.Human(sentence(n)) for n in range(count)]
        self.graph.update_state({"configurable": {"thread_id": thread}}, {"messages": messages}, as_node="answer")

    def end(self):
        self.saver.__exit__(None, None, None)


class LlamaIndexMemory:
    name = "LlamaIndex Memory, SQLite"
    durability = "SQLite commit per message"

    def __init__(self, directory, options):
        from llama_index.core.base.llms.types import ChatMessage
        from llama_index.core.memory import Memory

        # Its own tokenizer is fetched from a hub: words stand in for tokens.
        uri = f"sqlite+aiosqlite:///{directory / 'llama.sqlite'}"
        self.make = lambda thread: Memory.from_defaults(
            session_id=thread, token_limit=30_000, tokenizer_fn=str.split, async_database_uri=uri
        )
        self.Message, self.threads = ChatMessage, {}
        self.version = version("llama-index-core")

    def memory(self, thread):
        if thread not in self.threads:
            self.threads[thread] = self.make(thread)
        return self.threads[thread]

    def exchange(self, thread, user, assistant):
        memory = self.memory(thread)
        memory.put(self.Message(role="user", content=user))
        memory.get()[-20:]
        memory.put(self.Message(role="assistant", content=assistant))

    def fill(self, thread, count):
        self.memory(thread).put_messages([self.Message(role="user", content=sentence(n)) for n in range(count)])

    def end(self):
        pass


class LangChainTrim:
    name = "LangChain trim_messages"
    durability = "stores nothing"

    def __init__(self, directory, options):
        from langchain_core.messages import convert_to_messages, trim_messages

        self.convert, self.cut = convert_to_messages, trim_messages
        self.version = version("langchain-core")

    def prepare_trim(self, messages):
        self.messages = self.convert(messages)

    def trim(self, budget):
        kept = self.cut(
            self.messages, max_tokens=budget, token_counter="approximate", start_on="human", include_system=True
        )
        return len(kept)

    def end(self):
        pass


class Mem0:
    name = "mem0, local Qdrant, texts as given"
    durability = "files written by the in-process Qdrant"

    def __init__(self, directory, options):
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ.setdefault("OPENAI_API_KEY", "unused")
        os.environ["MEM0_DIR"] = str(directory / "mem0")
        from mem0 import Memory

        store = {"path": str(directory / "mem0-qdrant"), "embedding_model_dims": 384, "on_disk": True}
        self.memory = Memory.from_config({"vector_store": {"provider": "qdrant", "config": store}})
        self.memory.embedding_model = WordVectors()
        self.version = ", ".join(map(version, ["mem0ai", "qdrant-client"]))

    def prepare_search(self, texts):
        for text in texts:
            self.memory.add(text, user_id="peer", infer=False)

    def search(self, query):
        return len(self.memory.search(query, filters={"user_id": "peer"}, top_k=10, threshold=0.0)["results"])

    def end(self):
        pass


class WordVectors:
    """Stands in for an embedding model, which costs the same for everyone: words hashed into 384 dimensions."""

    def embed(self, text, memory_action=None):
        vector = [0.0] * 384
        for word in text.lower().split():
            vector[sum(word.encode()) * 31 % 384] += 1.0
        length = sum(x * x for x in vector) ** 0.5 or 1.0
        return [x / length for x in vector]

    def embed_batch(self, texts, memory_action=None):
        return [self.embed(text) for text in texts]


PEERS = [Novelo, FastApiRedis, LangGraphSqlite, LlamaIndexMemory, LangChainTrim, Mem0]


def agent_transcript(count):
    """Messages of an agent: questions, tool calls, their answers and replies, in turns."""
    messages = [{"role": "system", "content": "You are a helpful agent."}]
    while len(messages) < count:
        n = len(messages)
        call = {"id": f"call_{n}", "type": "function", "function": {"name": "look", "arguments": json.dumps({"n": n})}}
        messages += [
            {"role": "user", "content": sentence(n)},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": sentence(n + 1)},
            {"role": "assistant", "content": sentence(n + 2)},
        ]
    return messages[:count]


def timed(work, times):
    started = time.perf_counter()
    for n in range(times):
        work(n)
    return (time.perf_counter() - started) / times


class Measurement:
    """Rounds over all peers: figures[(peer, row)] holds one figure per round."""

    def __init__(self, peers, options):
        self.peers, self.options, self.figures = peers, options, {}

    def keep(self, peer, row, seconds):
        self.figures.setdefault((peer.name, row), []).append(seconds)

    def median(self, peer, row):
        figures = self.figures.get((peer.name, row))
        return statistics.median(figures) if figures else None

    def able(self, method):
        return [peer for peer in self.peers if hasattr(peer, method)]

    def prepare(self):
        transcript = agent_transcript(1_000)
        for peer in self.able("prepare_trim"):
            peer.prepare_trim(transcript)
        texts = [sentence(n, 20) for n in range(self.options.memories)]
        for peer in self.able("prepare_search"):
            peer.prepare_search(texts)
        for peer in self.able("fill"):
            peer.fill("short", 20)
            peer.fill("long", self.options.turns)

    def round(self, number):
        times = self.options.times
        for peer in self.able("exchange"):
            for row, thread in (("W1", "short"), ("W3", "long")):
                ask = lambda n: peer.exchange(thread, sentence(n), sentence(n + 1))
                self.keep(peer, row, timed(ask, times))
        for peer in self.able("trim"):
            self.keep(peer, "W2", timed(lambda n: peer.trim(20_000), max(2, times // 4)))
        for peer in self.able("search"):
            self.keep(peer, "W4", timed(lambda n: peer.search(sentence(number * 100 + n, 5)), times))


def milliseconds(seconds):
    return "" if seconds is None else f"{seconds * 1000:.2f} ms"


def page(measurement, missing, options):
    novelo = measurement.peers[0]
    lines = [
        "# Beside other software",
        "",
        "See how Novelo compares with what people use today for conversation state, trimming and memory, and repeat it:",
        "",
        "```",
        "make peers",
        "```",
        "",
        f"Made on {os.cpu_count()} cores, Python {platform.python_version()}, one client, {options.rounds} interleaved rounds of",
        f"{options.times} calls each. A figure is the median over the rounds, the client's own time included: Python needs most of a",
        "call to Novelo for itself, so the ratios are lower bounds.",
        "",
        "| | an exchange (W1) | 1,000 messages to 20k tokens (W2) "
        f"| an exchange in a thread of {options.turns:,} turns (W3) | search in {options.memories:,} memories (W4) |",
        "|---|---:|---:|---:|---:|",
    ]
    for peer in measurement.peers:
        cells = []
        for row in ("W1", "W2", "W3", "W4"):
            ours, theirs = measurement.median(novelo, row), measurement.median(peer, row)
            times = f" (× {theirs / ours:.1f})" if theirs and ours and peer is not novelo else ""
            cells.append(milliseconds(theirs) + times)
        lines.append(f"| {peer.name} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "An empty cell: the software does not do that work. *Exchange*: append a user turn, read the last 20 turns, append the",
        "answer. *× n*: n times as long as Novelo takes for the same.",
        "",
        "| | versions | what an acknowledged turn survives |",
        "|---|---|---|",
    ]
    lines += [f"| {peer.name} | {peer.version} | {peer.durability} |" for peer in measurement.peers]
    lines += [
        "",
        "Mind when you compare:",
        "",
        "- LangGraph, LlamaIndex, LangChain and mem0 run inside the client's process; Novelo and FastAPI are asked over HTTP.",
        "- LangGraph loads and stores the whole state of a thread at every step; that is its design, and why W3 grows.",
        "- LlamaIndex's tokenizer needs a download: words are counted instead. mem0's embedding model is replaced by hashed words,",
        "  and its extraction by a model is off (`infer=False`); Novelo's search uses words alone here.",
        "- mem0 with its default settings also calls a language model for each write; that is not measured here.",
        "- agent-memory-server and LangGraph's Redis checkpoints need Redis modules that Debian's Redis does not have.",
    ]
    lines += [f"- Not measured: {name}: {why}." for name, why in missing]
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--novelo", required=True, help="the binary")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--times", type=int, default=40, help="calls of each kind in a round")
    options.add_argument("--turns", type=int, default=1_000, help="turns of the long thread")
    options.add_argument("--memories", type=int, default=10_000)
    options.add_argument("--write", type=Path, help="the page to write; else it is printed")
    options = options.parse_args()
    options.novelo = str(Path(options.novelo).resolve())
    with tempfile.TemporaryDirectory() as directory:
        peers, missing = [], []
        try:
            for Peer in PEERS:
                try:
                    peers.append(Peer(Path(directory), options))
                except Exception as why:
                    if Peer is Novelo:
                        raise
                    missing.append((Peer.name, why))
            measurement = Measurement(peers, options)
            measurement.prepare()
            for number in range(options.rounds):
                measurement.round(number)
                print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
            text = page(measurement, missing, options)
        finally:
            for peer in peers:
                peer.end()
    if options.write:
        options.write.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
