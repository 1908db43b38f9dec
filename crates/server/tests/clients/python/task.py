"""What every script shares: its task, the tool, and how it tells what its client saw."""

import json
import sys
from typing import Any

TASK: dict[str, Any] = json.loads(sys.argv[1])
BASE_URL: str = TASK["base_url"]
USER: str = TASK["user"]
# The name of the job; what the model is called by its own server is a test of its own.
MODEL = "answer"
KEY = "sk-not-needed"
INSTRUCTIONS = "Be brief."


def thread(name: str) -> dict[str, str]:
    """The header that names a thread."""
    return {"X-Novelo-Thread": name.replace(" ", "%20")}


def weather(city: str, days: float = 1, options: dict | None = None, station: int | None = None) -> str:
    """The weather in a city."""
    assert station in (None, 12345678901234567890), station
    return f"31 degrees in {city} for {days:g}"


SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "number"},
        "options": {"type": "object"},
        "station": {"type": "integer"},
    },
    "required": ["city"],
}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": SCHEMA}}]


def tell(seen: Any) -> None:
    print(json.dumps(seen))
