"""The JSON Schema of an explanation: the contract of `--format json`."""

from __future__ import annotations

from typing import Any

from aoti_logs.explain import SCHEMA, Confidence
from aoti_logs.ladder import SCHEMA as _LADDER


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    names = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": names}


_TEXT: dict[str, Any] = {"type": "string"}
_TEXT_OR_NULL: dict[str, Any] = {"type": ["string", "null"]}
_NUMBER_OR_NULL: dict[str, Any] = {"type": ["integer", "null"]}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_WORDS: dict[str, Any] = {"enum": [str(c) for c in Confidence]}
_LINK = _object(
    {
        "step": _TEXT,
        "text": _TEXT,
        "source": _TEXT_OR_NULL,
        "line": _NUMBER_OR_NULL,
        "end_line": _NUMBER_OR_NULL,
        "strength": _WORDS,
        "details": _TEXTS,
    }
)
_VERDICT = _object({"rule": _TEXT, "title": _TEXT, "confidence": _WORDS, "because": _TEXTS, "decide": _TEXTS})
_EXPERIMENT = _object(
    {
        "command": _TEXT,
        "change": _TEXT_OR_NULL,
        "env": {"type": "object", "additionalProperties": _TEXT},
        "sets": {"type": "object", "additionalProperties": _TEXT},
        "takes_effect": {"enum": ["run", "compile"]},
        "why": _TEXT,
        "proof": _TEXT,
        "care": _TEXT_OR_NULL,
    }
)
_FINDING = _object(
    {
        "rule": {"type": "string", "pattern": "^AL[0-9]{3}$"},
        "kind": _TEXT,
        "role": {"enum": ["cause", "consequence", "note"]},
        "severity": {"enum": ["error", "warning", "note"]},
        "confidence": _WORDS,
        "title": _TEXT,
        "rank": _NUMBER_OR_NULL,
        "log": _TEXT_OR_NULL,
        "facts": {"type": "object"},
        "chain": {"type": "array", "items": _LINK},
        "missing": {
            "type": "array",
            "items": _object({"what": _TEXT, "how_to_record": _TEXT}),
        },
        "experiments": {"type": "array", "items": _EXPERIMENT},
        "verdicts": {"type": "array", "items": _VERDICT},
        "fixes": _TEXTS,
        "consequences": {"type": "array", "items": _LINK},
        "notes": _TEXTS,
        "doubt": _TEXT_OR_NULL,
    }
)
_FINDING["properties"]["plan"] = _LADDER  # only where plans were asked for
JSON_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "aoti-logs explanation",
    **_object(
        {
            "schema": {"const": SCHEMA},
            "inputs": _TEXTS,
            "failed_inputs": _TEXTS,
            "silent": {"type": "object", "additionalProperties": {"type": "string"}},
            "findings": {
                "type": "array",
                "items": _FINDING,
            },
            "unparsed": {"type": "object", "additionalProperties": {"type": "integer"}},
            "problems": _TEXTS,
        }
    ),
}
