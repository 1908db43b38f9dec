"""Writes what the clients say about the API, from the server's own description of it.

    python clients/generate.py            writes the files
    python clients/generate.py --check    fails if one of them differs

The description is `crates/server/tests/openapi.json`, which a test of the server keeps equal to `/openapi.json`.
Types, methods and error classes are written; how requests are sent, retried and resumed is not.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = HERE.parent / "crates/server/tests/openapi.json"
NOTICE = "Written by clients/generate.py from openapi.json: do not edit."

# Calls that may be sent twice without a second effect, beside all that read or put. An append has an `Idempotency-Key`, a memory and a
# document an id, which the client makes where the caller gives none.
REPEATABLE = {
    "appendTurns", "forkThread", "forgetThread", "forgetUser", "importDocuments", "makeContext", "patchDocument",
    "batchDocuments", "patchUserData", "addMemory", "forgetMemories", "searchMemories", "searchTurns",
    "createEmbeddings", "indexDocument", "searchDocuments", "changeTask", "makeMemoryContext", "resetMemory", "countInputTokens",
    "updateConversation", "replayTrace", "setGroupState",
}
# The member that the client sets to a new id where the caller gives none.
NAMED_BY_CLIENT = {"addMemory": "id", "indexDocument": "id"}
# Bodies that are passed on to a model's server, with members that nobody lists.
OPEN_BODIES = {"Completion", "NewResponse"}
STREAMED = {"askThread", "chatWithMemory", "askGuided", "completeChat", "createResponse", "getResponse"}
# The header says the same as the `user` of the query or the body.
LEFT_OUT = {"X-Novelo-User", "Last-Event-ID"}
HEADER_NAMES = {
    "Idempotency-Key": "idempotency_key", "If-Match": "if_match", "X-Novelo-Thread": "thread", "X-Novelo-Confirm": "confirm",
}


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def singular(name: str) -> str:
    name = name[:-3] + "y" if name.endswith("ies") else name[:-1] if name.endswith("s") else name
    return name[:1].upper() + name[1:]


@dataclass
class Field:
    name: str
    schema: dict[str, Any]
    required: bool

    @property
    def nullable(self) -> bool:
        kind = self.schema.get("type")
        return (isinstance(kind, list) and "null" in kind) or None in self.schema.get("enum", [])


@dataclass
class Operation:
    id: str
    method: str
    path: str
    about: str
    path_fields: list[Field]
    query: list[Field]
    headers: list[Field]
    body: str | None
    body_type: str | None
    answer: dict[str, Any] | None
    media: str

    @property
    def streams(self) -> bool:
        return self.id in STREAMED

    @property
    def repeatable(self) -> bool:
        return self.method in ("get", "put") or self.id in REPEATABLE

    @property
    def cursor(self) -> str:
        """The member of the last entry of a page that the next call names as `after`."""
        return "seq" if self.id == "listTurns" else "id"


class Description:
    def __init__(self, source: dict[str, Any]) -> None:
        self.schemas: dict[str, Any] = source["components"]["schemas"]
        # One address reads a document or lists a collection; here these are two calls.
        self.schemas["Documents"] = self.schemas.pop("DocumentOrList")["anyOf"][1]
        self.operations: list[Operation] = []
        for path, methods in source["paths"].items():
            for method, facts in methods.items():
                operation = self.operation(path, method, facts)
                self.operations.append(operation)
                if operation.id == "getDocument":
                    listing = replace(operation, id="listCollection", about="Lists the documents of a collection by time.")
                    listing.answer = {"$ref": "#/components/schemas/Documents"}
                    self.operations.append(listing)
                    operation.query, operation.about = [], "Reads a document."
                    operation.answer = {"$ref": "#/components/schemas/Document"}

    def operation(self, path: str, method: str, facts: dict[str, Any]) -> Operation:
        fields: dict[str, list[Field]] = {"path": [], "query": [], "header": []}
        for parameter in facts.get("parameters", []):
            if parameter["name"] not in LEFT_OUT:
                field = Field(parameter["name"], parameter["schema"], parameter.get("required", False))
                fields[parameter["in"]].append(field)
        body, body_type = None, None
        if "requestBody" in facts:
            [(body_type, content)] = facts["requestBody"]["content"].items()
            body = content["schema"].get("$ref", "").rsplit("/", 1)[-1] or None
        # What the query and the body both take is given in the body.
        members = self.schemas.get(body or "", {}).get("properties", {})
        fields["query"] = [field for field in fields["query"] if field.name not in members]
        media = facts["responses"]["200"]["content"]
        kind = "application/json" if "application/json" in media else next(iter(media))
        answer = media[kind]["schema"] if kind == "application/json" else None
        return Operation(
            facts["operationId"], method, path, facts["summary"], fields["path"], fields["query"], fields["header"],
            body, body_type, answer, kind,
        )

    def page_of(self, operation: Operation) -> str | None:
        """The list in the answer of a call that gives pages."""
        schema = self.schemas.get((operation.answer or {}).get("$ref", "").rsplit("/", 1)[-1], {})
        members = schema.get("properties", {})
        if "has_more" not in members or "after" not in [field.name for field in operation.query]:
            return None
        [name] = [name for name, of in members.items() if of.get("type") == "array"]
        return str(name)

    def body_fields(self, operation: Operation) -> list[Field] | None:
        """The members of an object that a caller gives one by one; None where the body is any JSON."""
        schema = self.schemas.get(operation.body or "", {})
        if "properties" not in schema:
            return None
        required = schema.get("required", [])
        return [Field(name, of, name in required) for name, of in schema["properties"].items()]


class Python:
    """Types as `TypedDict`s: what the server sends is what the caller gets."""

    def __init__(self, api: Description) -> None:
        self.api = api
        self.types: list[str] = []
        for name, schema in api.schemas.items():
            if name not in ("Any", "Object"):
                self.define(name, schema)

    def define(self, name: str, schema: dict[str, Any]) -> None:
        if "properties" in schema:
            required = schema.get("required", [])
            fields = [
                (key, self.answer(of, name + (singular(key) if of.get("type") == "array" else key[:1].upper() + key[1:])),
                 key in required)
                for key, of in schema["properties"].items()
            ]
            self.types.append(self.typed_dict(name, fields))
        else:
            raise ValueError(f"what type is {name}?")

    @staticmethod
    def typed_dict(name: str, fields: list[tuple[str, str, bool]]) -> str:
        """Required members in a class below the optional ones; Python 3.10 has no other way."""
        must = [(key, of) for key, of, required in fields if required]
        may = [(key, of) for key, of, required in fields if not required]
        base = f"_{name}" if must and may else name
        out = ""
        if must:
            if any(keyword.iskeyword(key) for key, _ in must):
                out += f"{base} = TypedDict(\"{base}\", {{{', '.join(f'{key!r}: {of}' for key, of in must)}}})\n"
            else:
                out += f"class {base}(TypedDict):\n" + "".join(f"    {key}: {of}\n" for key, of in must)
        if may or not must:
            parent = base if must else "TypedDict"
            out += "\n\n" if must else ""
            out += f"class {name}({parent}, total=False):\n" + ("".join(f"    {key}: {of}\n" for key, of in may) or "    pass\n")
        return out

    def answer(self, schema: dict[str, Any], name: str) -> str:
        """The type of a value in an answer; objects within it get names of their own."""
        if "$ref" in schema:
            return str(schema["$ref"].rsplit("/", 1)[-1])
        if "properties" in schema:
            self.define(name, schema)
            return name
        if schema.get("type") == "array":
            return f"List[{self.answer(schema['items'], name) if 'items' in schema else 'Any'}]"
        return python_plain(schema, "Dict[str, Any]", "List[Any]")

    def types_file(self) -> str:
        head = f'"""The JSON of requests and answers.\n\n{NOTICE}\n"""\n\nfrom __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, TypedDict, Union\n\n\n'
        return head + "\n\n".join(self.types)

    def argument(self, field: Field) -> tuple[str, str]:
        schema = field.schema
        if schema.get("type") == "array":
            of = schema.get("items", {})
            of_type = "Mapping[str, Any]" if "$ref" in of or "properties" in of or of.get("type") == "object" else python_plain(of)
            kind = f"Sequence[{of_type}]"
        elif "properties" in schema:
            kind = "Mapping[str, Any]"
        else:
            kind = python_plain(schema, "Mapping[str, Any]", "Sequence[Any]")
        if field.required:
            return kind, ""
        return (f"Union[{kind}, Omit]", " = OMIT") if field.nullable else (f"Optional[{kind}]", " = None")

    def method(self, operation: Operation, asynchronous: bool, stream: bool = False) -> str:
        positional, keywords, body, query, headers = self.arguments(operation, stream)
        returns = self.returns(operation, asynchronous, stream)
        name = ("stream_" if stream else "") + snake(operation.id)
        call = {True: "_stream", False: "_json"}[stream]
        if operation.media == "application/x-ndjson":
            call = "_lines"
        elif operation.media != "application/json":
            call = "_text"
        lazy = call in ("_stream", "_lines")
        wait = "await " if asynchronous and not lazy else ""
        if stream and operation.id == "getResponse":
            query += ', "stream": True'
        elif stream:
            body = body[:-1] + ', "stream": True}'
        elif operation.streams and operation.method == "post":
            body = body[:-1] + ', "stream": False}'
        parts = [f'"{operation.method.upper()}", {python_path(operation.path)}']
        if query:
            parts.append(f"query={{{query.lstrip(', ')}}}")
        if headers:
            parts.append(f"headers={{{headers}}}")
        if body:
            parts.append(body)
        if not operation.repeatable:
            parts.append("repeatable=False")
        if operation.id in NAMED_BY_CLIENT:
            parts.append(f'named="{NAMED_BY_CLIENT[operation.id]}"')
        listed = "".join(f"            {part},\n" for part in parts)
        result = f"{wait}self.{call}(request)"
        if call == "_json":
            result = f"cast({returns}, {result})" if returns != "Any" else result
        every = ["self", *positional, *(["*", *keywords] if keywords else [])]
        start = "async def" if asynchronous and not lazy else "def"
        return (
            f"    {start} {name}(\n        " + ",\n        ".join(every) + f",\n    ) -> {self.wrapped(returns)}:\n"
            f'        """{operation.about}"""\n        request = Request(\n{listed}        )\n        return {result}\n'
        )

    @staticmethod
    def wrapped(returns: str) -> str:
        return returns.strip('"') if returns.startswith('"types.') else returns

    def arguments(self, operation: Operation, stream: bool = False) -> tuple[list[str], list[str], str, str, str]:
        positional = [
            f"{field.name}: {'Path' if field.name == 'path' else 'str'}" for field in operation.path_fields
        ]
        taken = {field.name for field in operation.path_fields}
        keywords, query, headers = [], "", []
        for field in operation.query:
            if field.name == "stream" or (field.name == "starting_after" and not stream):
                continue
            kind, default = self.argument(field)
            kind = "Optional[Union[str, int]]" if field.name == "after" else kind
            keywords.append(f"{snake(field.name)}: {kind}{default}")
            query += f', "{field.name}": {snake(field.name)}'
            taken.add(snake(field.name))
        for field in operation.headers:
            argument = HEADER_NAMES[field.name]
            kind = "Optional[Union[str, int]]" if field.name == "If-Match" else "Optional[str]"
            keywords.append(f"{argument}: {kind} = None")
            headers.append(f'"{field.name}": {argument}')
            taken.add(argument)
        body = ""
        fields = self.api.body_fields(operation)
        if operation.body_type == "application/x-ndjson":
            positional.append("lines: Lines")
            body = "lines=lines"
        elif operation.body and fields is None:
            positional.append(f"value: {'Mapping[str, Any]' if operation.body == 'Object' else 'Any'}")
            body = "json=value"
        elif fields is not None:
            members = []
            for field in fields:
                if field.name == "stream" and operation.streams:
                    continue
                argument = snake(field.name)
                assert argument not in taken, (operation.id, argument)
                kind, default = self.argument(field)
                (positional if field.required else keywords).append(f"{argument}: {kind}{default}")
                value = argument if field.required or field.nullable else f"unset({argument})"
                members.append(f'"{field.name}": {value}')
            if operation.body in OPEN_BODIES:
                keywords.append("extra: Optional[Mapping[str, Any]] = None")
                members.append("**(extra or {})")
            body = f"members={{{', '.join(members)}}}"
        return positional, keywords, body, query, ", ".join(headers)

    @staticmethod
    def returns(operation: Operation, asynchronous: bool, stream: bool) -> str:
        prefix = "Async" if asynchronous else ""
        if stream:
            return f"{prefix}EventStream"
        if operation.media == "application/x-ndjson":
            return f"{prefix}LineStream"
        if operation.answer is None:
            return "str"
        if "$ref" not in operation.answer:
            return "Dict[str, Any]"
        name = operation.answer["$ref"].rsplit("/", 1)[-1]
        return "Any" if name == "Any" else "Dict[str, Any]" if name == "Object" else f'"types.{name}"'

    def pages(self, operation: Operation, asynchronous: bool) -> str:
        """An iterator over the entries of all pages."""
        key, cursor = self.api.page_of(operation), operation.cursor
        positional, keywords, *_ = self.arguments(operation)
        shown = [k for k in keywords if not k.startswith("last:")]
        if operation.id == "listTurns":
            shown = [k.replace("Optional[Union[str, int]] = None", "Union[str, int] = 0") for k in shown]
        name = "iter_" + snake(operation.id).removeprefix("list_")
        given = [p.split(":")[0] for p in positional] + [f"{k.split(':')[0]}={k.split(':')[0]}" for k in shown]
        start, wait, kind = ("async def", "await ", "AsyncIterator") if asynchronous else ("def", "", "Iterator")
        return (
            f"    {start} {name}(\n        " + ",\n        ".join(["self", *positional, "*", *shown])
            + f",\n    ) -> {kind}[Dict[str, Any]]:\n"
            f'        """The entries of all pages of `{snake(operation.id)}`, each page read when it is needed."""\n'
            f"        while True:\n            page = cast(Dict[str, Any], {wait}self.{snake(operation.id)}({', '.join(given)}))\n"
            f'            entries: List[Dict[str, Any]] = entries_of(page, "{key}")\n'
            f"            for entry in entries:\n                yield entry\n"
            f'            if not page["has_more"] or not entries:\n                return\n'
            f'            after = entries[-1]["{cursor}"]\n'
        )

    def operations_file(self, asynchronous: bool) -> str:
        prefix = "Async" if asynchronous else ""
        methods = []
        for operation in self.api.operations:
            methods.append(self.method(operation, asynchronous))
            if operation.streams:
                methods.append(self.method(operation, asynchronous, stream=True))
            if self.api.page_of(operation):
                methods.append(self.pages(operation, asynchronous))
        text = "\n".join(methods)
        if asynchronous:
            text = text.replace("lines: Lines", "lines: AsyncLines")
        iterator = "AsyncIterator" if asynchronous else "Iterator"
        lines = "AsyncLines" if asynchronous else "Lines"
        return (
            f'"""Every call of the API{", awaited" if asynchronous else ""}.\n\n{NOTICE}\n"""\n\n'
            f"from __future__ import annotations\n\n"
            f"from typing import Any, {iterator}, Dict, List, Literal, Mapping, Optional, Sequence, Union, cast\n\n"
            f"from . import _types as types\nfrom ._base import {prefix}Base, entries_of\n"
            f"from ._request import OMIT, {lines}, Omit, Path, Request, unset\n"
            f"from ._stream import {prefix}EventStream, {prefix}LineStream\n\n\n"
            f"class {prefix}Operations({prefix}Base):\n" + text
        )

    def errors_file(self) -> str:
        codes = self.api.schemas["Error"]["properties"]["error"]["properties"]["code"]["enum"]
        names = {code: "".join(part.capitalize() for part in code.split("_")) for code in codes}
        # Not to be taken for Python's own.
        names["timeout"] = "BodyTimeout"
        out = f'"""A class for each code of an error.\n\n{NOTICE}\n"""\n\nfrom typing import Dict, Type\n\nfrom ._errors import ApiError\n\n'
        for code, name in names.items():
            out += f'\nclass {name}(ApiError):\n    """The server answered `{code}`."""\n\n'
        out += "\nCODES: Dict[str, Type[ApiError]] = {\n" + "".join(f'    "{code}": {name},\n' for code, name in names.items()) + "}\n"
        return out


def python_plain(schema: dict[str, Any], objects: str = "Mapping[str, Any]", arrays: str = "Sequence[Any]") -> str:
    if "enum" in schema or "const" in schema:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        return f"Literal[{', '.join(repr(value) for value in values)}]"
    plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": objects, "array": arrays}
    kind = schema.get("type")
    if kind is None:
        return "Any"
    kinds = [plain[one] for one in ([kind] if isinstance(kind, str) else kind)]
    return kinds[0] if len(kinds) == 1 else f"Union[{', '.join(kinds)}]"


def python_path(path: str) -> str:
    names = re.findall(r"\{(\w+)\}", path)
    given = ", ".join(f'"{name}": {name}' for name in names)
    return f'"{path}", {{{given}}}' if names else f'"{path}"'


class TypeScript:
    def __init__(self, api: Description) -> None:
        self.api = api

    def value(self, schema: dict[str, Any], indent: str = "") -> str:
        if "$ref" in schema:
            return str(schema["$ref"].rsplit("/", 1)[-1])
        if "enum" in schema or "const" in schema:
            return " | ".join(json.dumps(one) for one in ([schema["const"]] if "const" in schema else schema["enum"]))
        if "properties" in schema:
            inner = indent + "  "
            required = schema.get("required", [])
            rows = [
                f"{inner}{key}{'' if key in required else '?'}: {self.value(of, inner)};" for key, of in schema["properties"].items()
            ]
            return "{\n" + "\n".join(rows) + f"\n{indent}}}"
        if schema.get("type") == "array":
            of = self.value(schema["items"], indent) if "items" in schema else "unknown"
            return f"Array<{of}>"
        plain = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null",
                 "object": "JsonObject", "array": "unknown[]"}
        kind = schema.get("type")
        if kind is None:
            return "unknown"
        return " | ".join(plain[one] for one in ([kind] if isinstance(kind, str) else kind))

    def types_file(self) -> str:
        out = f"// The JSON of requests and answers. {NOTICE}\n\nexport type JsonObject = Record<string, unknown>;\n"
        for name, schema in self.api.schemas.items():
            schema_name = {"Error": "ErrorBody", "Object": "AnyObject"}.get(name, name)
            value = self.value(schema)
            if schema_name == "Message" or schema_name in OPEN_BODIES:
                value += " & JsonObject"
            out += f"\nexport type {schema_name} = {value};\n"
        return out

    def method(self, operation: Operation, stream: bool = False) -> str:
        name = f"stream{operation.id[:1].upper()}{operation.id[1:]}" if stream else operation.id
        arguments = [f"{field.name}: {'DocumentPath' if field.name == 'path' else 'string'}" for field in operation.path_fields]
        options = []
        query, headers = [], []
        for field in operation.query:
            if field.name == "stream" or (field.name == "starting_after" and not stream):
                continue
            kind = "string | number" if field.name == "after" else self.value(field.schema)
            options.append(f"{camel(field.name)}?: {kind}")
            query.append(f"{json.dumps(field.name)}: options.{camel(field.name)}")
        for field in operation.headers:
            argument = camel(HEADER_NAMES[field.name])
            options.append(f"{argument}?: {'string | number' if field.name == 'If-Match' else 'string'}")
            headers.append(f"{json.dumps(field.name)}: options.{argument}")
        if stream and operation.method == "get":
            query.append('"stream": true')
        parts = [f"method: {json.dumps(operation.method.upper())}", f"path: {typescript_path(operation)}"]
        if operation.body_type == "application/x-ndjson":
            arguments.append("lines: string | Uint8Array | Blob")
            parts.append("lines")
        elif operation.body:
            schema = {"Object": "types.JsonObject", "Any": "unknown"}.get(operation.body, f"types.{operation.body}")
            if operation.streams:
                schema = f'Omit<{schema}, "stream">' if operation.body not in OPEN_BODIES else schema
            arguments.append(f"body: {schema}")
            parts.append("body: " + (f"{{ ...body, stream: {json.dumps(stream)} }}" if operation.streams else "body"))
        if query:
            parts.append(f"query: {{ {', '.join(query)} }}")
        if headers:
            parts.append(f"headers: {{ {', '.join(headers)} }}")
        if not operation.repeatable:
            parts.append("repeatable: false")
        if operation.id in NAMED_BY_CLIENT:
            parts.append(f'named: "{NAMED_BY_CLIENT[operation.id]}"')
        call, returns = self.call(operation, stream)
        given = "CallOptions" + (f" & {{ {'; '.join(options)} }}" if options else "")
        arguments.append(f"options: {given} = {{}}")
        return (
            f"  /** {operation.about} */\n  {name}({', '.join(arguments)}): {returns} {{\n"
            f"    return this.{call}({{ {', '.join(parts)} }}, options);\n  }}\n"
        )

    def call(self, operation: Operation, stream: bool) -> tuple[str, str]:
        if stream:
            return "stream", "EventStream"
        if operation.media == "application/x-ndjson":
            return "lines", "AsyncIterableIterator<string>"
        if operation.answer is None:
            return "text", "Promise<string>"
        name = operation.answer["$ref"].rsplit("/", 1)[-1] if "$ref" in operation.answer else "Object"
        of = {"Any": "unknown", "Object": "types.JsonObject"}.get(name, f"types.{name}")
        return f"json<{of}>", f"Promise<{of}>"

    def pages(self, operation: Operation) -> str:
        key, cursor = self.api.page_of(operation), operation.cursor
        name = "iter" + operation.id.removeprefix("list")
        arguments = [f"{field.name}: {'DocumentPath' if field.name == 'path' else 'string'}" for field in operation.path_fields]
        names = [a.split(":")[0] for a in arguments]
        rows = [f"{camel(f.name)}?: {self.value(f.schema) if f.name != 'after' else 'string | number'}"
                for f in operation.query if f.name != "last"]
        of = f'types.{operation.answer["$ref"].rsplit("/", 1)[-1]}["{key}"][number]'  # type: ignore[index]
        given = f"CallOptions & {{ {'; '.join(rows)} }}"
        first = " ?? 0" if operation.id == "listTurns" else ""
        return (
            f"  /** The entries of all pages of `{operation.id}`, each page read when it is needed. */\n"
            f"  {name}({', '.join([*arguments, f'options: {given} = {{}}'])}): AsyncIterableIterator<{of}> {{\n"
            f"    return pages((after) => this.{operation.id}({', '.join([*names, f'{{ ...options, after: after ?? options.after{first} }}'])}), "
            f'"{key}", "{cursor}") as AsyncIterableIterator<{of}>;\n  }}\n'
        )

    def operations_file(self) -> str:
        methods = []
        for operation in self.api.operations:
            methods.append(self.method(operation))
            if operation.streams:
                methods.append(self.method(operation, stream=True))
            if self.api.page_of(operation):
                methods.append(self.pages(operation))
        return (
            f"// Every call of the API. {NOTICE}\n\n"
            'import { Base, pages } from "./base.js";\nimport type { CallOptions, DocumentPath } from "./base.js";\n'
            'import type { EventStream } from "./stream.js";\nimport type * as types from "./types.js";\n\n'
            "export class Operations extends Base {\n" + "\n".join(methods) + "}\n"
        )


def typescript_path(operation: Operation) -> str:
    if not operation.path_fields:
        return json.dumps(operation.path)
    if operation.path == "/v1/docs/{path}":
        return "`/v1/docs/${documentPath(path)}`"
    return "`" + re.sub(r"\{(\w+)\}", r'${segment("\1", \1)}', operation.path) + "`"


def files() -> dict[Path, str]:
    api = Description(json.loads(SOURCE.read_text()))
    python, typescript = Python(api), TypeScript(api)
    package, sources = HERE / "python/src/novelo", HERE / "typescript/src"
    operations = typescript.operations_file().replace(
        "import { Base, pages }", "import { Base, documentPath, pages, segment }"
    )
    return {
        package / "_types.py": python.types_file(),
        package / "_operations.py": python.operations_file(asynchronous=False),
        package / "_async_operations.py": python.operations_file(asynchronous=True),
        package / "_codes.py": python.errors_file(),
        sources / "types.ts": typescript.types_file(),
        sources / "operations.ts": operations,
    }


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        wrong = [path for path, text in files().items() if not path.exists() or path.read_text() != text]
        for path in wrong:
            print(f"{path} differs from openapi.json: run python clients/generate.py", file=sys.stderr)
        return 1 if wrong else 0
    for path, text in files().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
