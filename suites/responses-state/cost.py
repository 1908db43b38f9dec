"""What a turn of a long chain costs, beside one of a short chain, on any server of Responses.

    python cost.py --base-url http://127.0.0.1:7420/v1 --model answer --turns 5000

Makes a chain of so many responses. Then, in alternation, it continues a new chain of nine responses and the long
one, and prints the median time of both and their ratio. Use a model that answers at once and a small window, so
that both prompts are of one size and the time is the server's own.
"""

import argparse
import statistics
import time

import openai

SHORT = 9


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--base-url", required=True)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--api-key", default="none")
    arguments.add_argument("--turns", type=int, default=5000)
    arguments.add_argument("--rounds", type=int, default=40)
    options = arguments.parse_args()
    client = openai.OpenAI(base_url=options.base_url, api_key=options.api_key, max_retries=0)
    text = "How are the tomatoes on the balcony doing today?"

    def ask(previous: str | None) -> tuple[str, float]:
        began = time.perf_counter()
        made = client.responses.create(
            model=options.model, input=text, previous_response_id=previous, truncation="auto"
        )
        return made.id, time.perf_counter() - began

    def chain(length: int) -> str | None:
        previous = None
        for _ in range(length):
            previous, _ = ask(previous)
        return previous

    long = chain(options.turns)
    times: dict[str, list[float]] = {"short": [], "long": []}
    for _ in range(options.rounds):
        times["short"].append(ask(chain(SHORT))[1])
        long, took = ask(long)
        times["long"].append(took)
    short_ms, long_ms = (statistics.median(times[name]) * 1e3 for name in ("short", "long"))
    print(f"turn {SHORT + 1}: {short_ms:.2f} ms, turn {options.turns}: {long_ms:.2f} ms, ratio {long_ms / short_ms:.2f}")


if __name__ == "__main__":
    main()
