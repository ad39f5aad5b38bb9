"""Answers the vectors of the format anew: `python docs/tooling/format_vectors.py`.

The lines in `docs/reference/format/v1/` hold inputs that were chosen by hand, and answers. This
keeps the inputs, and writes the library's answers. A change is to be reviewed in the files.
"""

import json
import warnings
from pathlib import Path
from typing import Any

from messagebody import MessageBody, MessageBodySchema
from messagebody.errors import DecodeError, DigestUnknown, InvalidPattern, InvalidSchema
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.schema.json_schemas import body_json_schema, schema_json_schema

PLACE = Path(__file__).parents[1] / "reference" / "format" / "v1"
_READERS = {"name": name_pattern, "type": content_type_pattern}

Line = dict[str, Any]


def _document(line: Line) -> Line:
    try:
        return {"body": json.loads(MessageBody.from_json(line["document"]).to_json())}
    except DecodeError:
        return {"body": None}


def _digest(line: Line) -> Line:
    try:
        return {"digest": MessageBody.from_json(line["document"]).digest}
    except DigestUnknown:
        return {"digest": None}


def _pattern(line: Line) -> Line:
    words = [*line.get("matches", []), *line.get("others", [])]
    try:
        pattern = _READERS[line["kind"]](line["pattern"])
    except InvalidPattern:
        return {"refused": True}
    matches = [word for word in words if pattern.matches(word)]
    return {"matches": matches, "others": [word for word in words if word not in matches]}


def _list(line: Line) -> Line:
    body = MessageBody.from_json(line["document"])
    return {"names": [part.name for part in body.list(line["pattern"])]}


def _schema(line: Line) -> Line:
    try:
        schema = MessageBodySchema.from_json(line["schema"])
    except InvalidSchema:
        return {"refused": True}
    return {"valid": schema.is_valid(MessageBody.from_json(line["document"]))}


_ANSWERS = {
    "documents": _document,
    "digests": _digest,
    "patterns": _pattern,
    "lists": _list,
    "schemas": _schema,
}


def _answered(line: Line, answer: Line) -> Line:
    """Return a line with its answer; what is refused matches nothing."""
    if "refused" in answer:
        line = {name: line[name] for name in line if name not in ("matches", "others", "valid")}
    return line | answer


def files() -> dict[str, str]:
    """Return the text of each file, by name."""
    texts = {}
    for name, answer in _ANSWERS.items():
        lines = (PLACE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        answered = [_answered(line, answer(line)) for line in map(json.loads, lines)]
        texts[f"{name}.jsonl"] = "".join(f"{json.dumps(line)}\n" for line in answered)
    for name, schema in (("body", body_json_schema()), ("schema", schema_json_schema())):
        texts[f"{name}.schema.json"] = json.dumps(schema, indent=2) + "\n"
    return texts


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # a vector is about a member that means nothing
    for name, text in files().items():
        (PLACE / name).write_text(text, encoding="utf-8")
