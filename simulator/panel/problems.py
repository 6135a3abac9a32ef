"""Problem details (RFC 9457): what went wrong, in words a caller can act on."""

from __future__ import annotations

import json

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class ProblemError(Exception):
    """A request that gets a problem instead of its answer.

    Args:
        status: HTTP status, 400..599.
        title: what kind of problem, the same words each time.
        detail: this occurrence, and what would be right.
        extra: further members, such as ``allowed`` or ``oldest``.
    """

    def __init__(self, status: int, title: str, detail: str = "", **extra: object) -> None:
        super().__init__(f"{title}: {detail}")
        self.status = status
        self.body: dict[str, object] = {"type": _type(title), "title": title, "status": status}
        if detail:
            self.body["detail"] = detail
        self.body.update(extra)

    def response(self) -> Response:
        """Return it as an HTTP response. In ASCII: what it quotes may hold half of a surrogate pair."""
        headers = {"WWW-Authenticate": "Bearer"} if self.status == 401 else None
        return Response(json.dumps(self.body), self.status, headers, MEDIA_TYPE)


def _type(title: str) -> str:
    """A stable name for the kind of problem; a URN, since no page stands behind it."""
    return "urn:egm:problem:" + "-".join(title.lower().split())
