"""Every example of the docs runs."""

import re
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest

ROOT = Path(__file__).parents[3]
PAGES = ["clients/python/README.md", "docs/integrations.md"]
ADDRESS = "http://127.0.0.1:7420"


def examples() -> List[Tuple[str, str]]:
    found = []
    for page in PAGES:
        for at, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)):
            found.append((f"{page}#{at + 1}", code))
    return found


@pytest.mark.parametrize("name,code", examples(), ids=[name for name, _ in examples()])
def test_an_example(name: str, code: str, url: str, user: str, upstream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", upstream.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    assert ADDRESS in code, f"{name} names no server"
    names: Dict[str, Any] = {"__name__": "example"}
    exec(compile(code.replace(ADDRESS, url).replace('"ana"', f'"{user}"'), name, "exec"), names)


def test_there_are_examples() -> None:
    assert len(examples()) >= 4
