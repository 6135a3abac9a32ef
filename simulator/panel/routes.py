"""The HTTP routes as one table: it makes the router, checks the bodies and writes the OpenAPI description."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.panel.problems import ProblemError

BODY_SIZE_MAX = 65_536

KINDS: Mapping[str, type] = {"integer": int, "string": str, "boolean": bool}


@dataclass(frozen=True, slots=True)
class Field:
    """One member of a JSON body. ``minimum``/``maximum`` bound an integer."""

    name: str
    kind: str
    means: str
    required: bool = True
    minimum: int | None = None
    maximum: int | None = None

    def check(self, value: object) -> None:
        """Raise ProblemError unless ``value`` is of this kind and within bounds. A boolean is no integer."""
        if type(value) is not KINDS[self.kind]:
            raise ProblemError(
                400,
                "Bad request body",
                f"{self.name!r} must be {self._article()}: {self.means}",
                field=self.name,
            )
        if isinstance(value, int) and not isinstance(value, bool):
            low, high = self.minimum, self.maximum
            if (low is not None and value < low) or (high is not None and value > high):
                raise ProblemError(
                    422, "Value out of range", f"{self.name!r} must be {low} to {high}", field=self.name
                )

    def _article(self) -> str:
        return {"integer": "a whole number", "string": "a text", "boolean": "true or false"}[self.kind]

    def schema(self) -> dict[str, object]:
        """Return its JSON schema."""
        schema: dict[str, object] = {"type": self.kind, "description": self.means}
        if self.minimum is not None:
            schema["minimum"] = self.minimum
        if self.maximum is not None:
            schema["maximum"] = self.maximum
        return schema


@dataclass(frozen=True, slots=True)
class Route:
    """One route. ``verb`` is what the machine is asked; ``tester``: left out by ``--no-tester``.

    ``parameters``: names in the path or query, with their meaning. ``answer_s``: time the machine may take.
    """

    method: str
    path: str
    verb: str
    summary: str
    answers: str
    fields: tuple[Field, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    tester: bool = False
    answer_s: float = 5.0


_CENTS_MAX = 10_000_000

ROUTES: tuple[Route, ...] = (
    Route("GET", "/api/state", "state", "what a person standing there could see", "the state"),
    Route("GET", "/api/meters", "meters", "all meters by name, with unit", "the meters"),
    Route("GET", "/api/vocabulary", "vocabulary", "every name that this interface uses", "the names"),
    Route(
        "GET",
        "/api/wait",
        "wait",
        "wait for an event",
        "the event",
        parameters=(
            ("event", "name of the event; several by repeating it; any event if left out"),
            ("after", "sequence number that the event comes after; now if left out"),
            ("timeout", "seconds, up to 3600 (30)"),
        ),
    ),
    Route(
        "GET",
        "/api/events",
        "events",
        "every event as it happens (WebSocket)",
        "one JSON text a message",
        parameters=(("after", "sequence number to begin after; now if left out"),),
    ),
    Route(
        "POST",
        "/api/cabinet/bill",
        "bill",
        "put a note in; the answer comes when its fate is known",
        "result, reason, sequence",
        fields=(Field("cents", "integer", "value of the note in cents", True, 1, _CENTS_MAX),),
        tester=True,
        answer_s=60.0,
    ),
    Route(
        "POST",
        "/api/cabinet/press",
        "press",
        "press a button",
        "sequence",
        fields=(Field("button", "string", "name of the button"),),
        tester=True,
    ),
    Route(
        "POST",
        "/api/cabinet/door",
        "door",
        "open or close a door",
        "sequence",
        fields=(
            Field("door", "string", "name of the door"),
            Field("open", "boolean", "true opens it"),
        ),
        tester=True,
    ),
    Route(
        "POST",
        "/api/cabinet/key",
        "key",
        "turn a key",
        "sequence",
        fields=(Field("key", "string", "name of the key"), Field("on", "boolean", "true turns it on")),
        tester=True,
    ),
    Route(
        "POST",
        "/api/cabinet/stacker",
        "stacker",
        "take out or put back the note box",
        "sequence",
        fields=(Field("removed", "boolean", "true takes it out"),),
        tester=True,
    ),
    Route(
        "POST",
        "/api/cabinet/power",
        "power",
        "cut and restore the power",
        "sequence",
        fields=(Field("on", "boolean", "false cuts it"),),
        tester=True,
    ),
    Route(
        "GET", "/api/fault", "faults", "faults that exist and faults at work", "known, active", tester=True
    ),
    Route(
        "POST",
        "/api/fault",
        "fault",
        "inject a fault",
        "sequence",
        fields=(
            Field("target", "string", "what it happens to"),
            Field("kind", "string", "what happens"),
            Field("count", "integer", "how many times", False, 1, 1_000_000),
            Field("milliseconds", "integer", "how long", False, 1, 86_400_000),
            Field("detail", "integer", "a number that the kind understands, such as a code", False, 0, 255),
        ),
        tester=True,
    ),
    Route(
        "DELETE",
        "/api/fault/{target}/{kind}",
        "fault_clear",
        "end one fault",
        "sequence",
        parameters=(("target", "its target"), ("kind", "its kind")),
        tester=True,
    ),
    Route("DELETE", "/api/fault", "fault_clear", "end all faults", "sequence", tester=True),
)


def parse_body(raw: bytes, fields: tuple[Field, ...]) -> dict[str, object]:
    """Return the checked members of a JSON body. Raises ProblemError, which says what is right."""
    allowed = [field.name for field in fields]
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise ProblemError(400, "Bad request body", "the body is not JSON", allowed=allowed) from None
    if not isinstance(body, dict):
        raise ProblemError(400, "Bad request body", "the body must be a JSON object", allowed=allowed)
    unknown = sorted(set(body) - set(allowed))
    if unknown:
        raise ProblemError(
            400, "Bad request body", f"no such member as {unknown[0][:100]!r}", allowed=allowed
        )
    for field in fields:
        if field.name in body:
            field.check(body[field.name])
        elif field.required:
            raise ProblemError(
                400, "Bad request body", f"{field.name!r} is missing: {field.means}", allowed=allowed
            )
    return body


def openapi(version: str, *, tester: bool) -> dict[str, object]:
    """Return the OpenAPI 3.1 description of the table."""
    paths: dict[str, dict[str, object]] = {}
    for route in ROUTES:
        if tester or not route.tester:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "egm: the hands of a person at the cabinet", "version": version},
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


_PROBLEM: dict[str, object] = {
    "description": "RFC 9457 problem details",
    "type": "object",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "allowed": {"description": "what would have been right", "type": "array"},
        "oldest": {"description": "oldest sequence number still kept", "type": "integer"},
    },
}


def _operation(route: Route) -> dict[str, object]:
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    operation: dict[str, object] = {
        "operationId": f"{route.method.lower()}_{route.verb}_{route.path.count('{')}",
        "summary": route.summary,
        "responses": {
            "200": {
                "description": route.answers,
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            "default": {"description": "a problem", "content": problem},
        },
    }
    if route.parameters:
        operation["parameters"] = [_parameter(route, name, means) for name, means in route.parameters]
    if route.fields:
        schema = {
            "type": "object",
            "properties": {field.name: field.schema() for field in route.fields},
            "required": [field.name for field in route.fields if field.required],
            "additionalProperties": False,
        }
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return operation


def _parameter(route: Route, name: str, means: str) -> dict[str, object]:
    in_path = f"{{{name}}}" in route.path
    return {
        "name": name,
        "in": "path" if in_path else "query",
        "required": in_path,
        "description": means,
        "schema": {"type": "string"},
    }
