"""Checks that a file is a valid OpenAPI document: python openapi_check.py FILE.

Exit 0 and one line when it is, 1 and one line per fault when it is not, 2 when it cannot be read.
"""

import json
import sys
from pathlib import Path

from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator
from referencing.exceptions import Unresolvable

VALIDATORS = {"3.0": OpenAPIV30SpecValidator, "3.1": OpenAPIV31SpecValidator}
METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def faults(document):
    version = str(document.get("openapi", "")) if isinstance(document, dict) else ""
    validator = VALIDATORS.get(version.rsplit(".", 1)[0])
    if validator is None:
        yield f"openapi {version!r} is none of {', '.join(VALIDATORS)}"
        return
    try:
        for fault in validator(document).iter_errors():
            yield f"{fault.json_path}: {fault.message}"
    except Unresolvable as missing:
        yield f"{missing.ref} is referred to and does not exist"


def main(arguments):
    if len(arguments) != 1:
        print("usage: openapi_check.py FILE", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    found = list(faults(document))
    for fault in found:
        print(f"{path}: {fault}", file=sys.stderr)
    if found:
        return 1
    operations = sum(len(METHODS & item.keys()) for item in document.get("paths", {}).values())
    print(f"{path}: valid OpenAPI {document['openapi']}, {operations} operations")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
