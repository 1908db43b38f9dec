"""The client says what the server's own description says."""

import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, Tuple

import pytest

import novelo
from novelo import AsyncNovelo, Novelo, errors, types

GENERATOR = Path(__file__).parents[2] / "generate.py"


@pytest.fixture(scope="module")
def description(url: str) -> Dict[str, Any]:
    with Novelo(url) as client:
        return client.get_openapi()


def operations(description: Dict[str, Any]) -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    for path, methods in description["paths"].items():
        for method, facts in methods.items():
            yield method, path, facts


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def test_what_is_generated_is_up_to_date() -> None:
    ran = subprocess.run([sys.executable, str(GENERATOR), "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_description_in_the_tree_is_the_server_s(description: Dict[str, Any]) -> None:
    spec = importlib.util.spec_from_file_location("generate", GENERATOR)
    assert spec and spec.origin
    stored = json.loads((GENERATOR.parent.parent / "crates/server/tests/openapi.json").read_text())
    assert stored["paths"] == description["paths"]
    assert stored["components"] == description["components"]


@pytest.mark.parametrize("kind", [Novelo, AsyncNovelo])
def test_every_documented_call_has_a_method(description: Dict[str, Any], kind: type) -> None:
    for method, path, facts in operations(description):
        found = getattr(kind, snake(facts["operationId"]), None)
        assert callable(found), f"{kind.__name__} has no method for {method.upper()} {path}"
        parameters = inspect.signature(found).parameters
        for parameter in facts.get("parameters", []):
            if parameter["in"] == "path":
                assert parameter["name"] in parameters, f"{found.__name__} does not take {parameter['name']}"


def test_every_call_goes_where_the_description_says(description: Dict[str, Any]) -> None:
    source = inspect.getsource(sys.modules["novelo._operations"])
    for method, path, facts in operations(description):
        body = source.split(f"def {snake(facts['operationId'])}(")[1].split("\n    def ")[0]
        assert f'"{method.upper()}", "{path}"' in body, facts["operationId"]


def test_every_member_of_a_declared_answer_is_in_the_description(description: Dict[str, Any]) -> None:
    for name, schema in description["components"]["schemas"].items():
        declared = getattr(types, name, None)
        if "properties" in schema:
            assert declared is not None, name
            assert set(declared.__annotations__) == set(schema["properties"]), name
            assert declared.__required_keys__ == frozenset(schema.get("required", [])), name


def test_every_code_has_a_class(description: Dict[str, Any]) -> None:
    codes = description["components"]["schemas"]["Error"]["properties"]["error"]["properties"]["code"]["enum"]
    assert set(errors.CODES) == set(codes)
    for code, kind in errors.CODES.items():
        assert issubclass(kind, novelo.ApiError) and getattr(errors, kind.__name__) is kind, code


def test_both_clients_have_the_same_methods() -> None:
    def names(kind: type) -> Dict[str, str]:
        return {
            name: str(list(inspect.signature(member).parameters))
            for name, member in inspect.getmembers(kind, callable)
            if not name.startswith("_")
        }

    assert names(Novelo) == names(AsyncNovelo)
