"""The web application of the panel: routes, tokens, problems, the page. Its machine is a channel."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from simulator.panel.machine_link import MachineLink, sequence_of
from simulator.panel.problems import ProblemError
from simulator.panel.routes import BODY_SIZE_MAX, ROUTES, Route, openapi, parse_body

TIMEOUT_S_MAX = 3600.0
TIMEOUT_S = 30.0

PAGE = Path(__file__).with_name("page.html")


def build(machine: MachineLink) -> Starlette:
    """Return the application for a machine that has sent its greeting."""
    hello = machine.hello
    tester = bool(hello.get("tester", True))
    routes: list[BaseRoute] = [
        StarletteRoute("/", _page, methods=["GET"]),
        StarletteRoute("/openapi.json", _openapi(str(hello.get("version", "")), tester), methods=["GET"]),
    ]
    by_path: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        if route.verb == "events":
            routes.append(WebSocketRoute(route.path, _events(machine)))
        elif tester or not route.tester:
            by_path.setdefault(route.path, {})[route.method] = route
    routes += [
        StarletteRoute(path, _endpoint(machine, methods), methods=list(methods))
        for path, methods in by_path.items()
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={ProblemError: _on_problem, HTTPException: _on_http, Exception: _on_fault},
    )
    app.add_middleware(Guard, token=str(hello.get("token", "")), hosts=_hosts(hello.get("hosts")))
    return app


def _hosts(found: object) -> frozenset[str]:
    return frozenset(str(host) for host in found) if isinstance(found, list) else frozenset()


# --- who may come in -------------------------------------------------------------------------------------


class Guard:
    """Refuse callers without the token, and pages of other sites that use a browser as their hand.

    ``hosts``: names by which a panel on the loopback address may be called; empty: any (with a token).
    """

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]) -> None:
        self._app = app
        self._token = token
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a problem."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        problem = self._problem(HTTPConnection(scope))
        if problem is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocket(scope, receive, send).send_denial_response(problem.response())
        else:
            await problem.response()(scope, receive, send)

    def _problem(self, connection: HTTPConnection) -> ProblemError | None:
        host = connection.headers.get("host", "")
        called = _split(f"//{host}")
        if self._hosts and (called is None or called.hostname not in self._hosts):
            return ProblemError(
                403, "Foreign host name", f"this panel answers to {', '.join(sorted(self._hosts))}"
            )
        origin = connection.headers.get("origin")
        page = None if origin is None else _split(origin)
        if origin is not None and (page is None or page.netloc != host):
            return ProblemError(403, "Foreign origin", "pages of other sites may not use this panel")
        if self._token and not hmac.compare_digest(_token(connection).encode(), self._token.encode()):
            return ProblemError(
                401, "Token needed", "send it as 'Authorization: Bearer TOKEN' or '?token=TOKEN'"
            )
        return None


def _split(address: str) -> SplitResult | None:
    """The parts of an address, ``None`` for one that is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return None


def _token(connection: HTTPConnection) -> str:
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else connection.query_params.get("token", "")


# --- endpoints -------------------------------------------------------------------------------------------

Endpoint = Callable[[Request], Awaitable[Response]]


def _endpoint(machine: MachineLink, methods: dict[str, Route]) -> Endpoint:
    patience_s = float(str(machine.hello.get("answer_s_max", "inf")))

    async def endpoint(request: Request) -> Response:
        route = methods["GET" if request.method == "HEAD" else request.method]
        if route.verb == "wait":
            return JSONResponse(await _wait(machine, request))
        arguments: dict[str, object] = dict(request.path_params)
        if route.fields:
            arguments |= parse_body(await _read_body(request), route.fields)
        answer = await machine.ask(route.verb, arguments, min(route.answer_s, patience_s))
        if route.verb == "vocabulary":
            answer["tester"] = machine.hello.get("tester", True)
        return JSONResponse(answer)

    return endpoint


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_SIZE_MAX:
            raise ProblemError(413, "Body too large", f"at most {BODY_SIZE_MAX} bytes")
    return bytes(body)


async def _wait(machine: MachineLink, request: Request) -> dict[str, object]:
    names = [name for name in request.query_params.getlist("event") if name]
    _check_query(request, "event", "after", "timeout", "token")
    timeout_s = _seconds(request.query_params.get("timeout"))
    after = _sequence(request.query_params.get("after"))
    await _check_names(machine, names)
    if after is None:
        after = await _now(machine)
    try:
        return await asyncio.wait_for(machine.events.first(names, after), timeout_s)
    except TimeoutError:
        wanted = " or ".join(names) or "event"
        raise ProblemError(408, "No such event in time", f"no {wanted} within {timeout_s:g} s") from None


async def _now(machine: MachineLink) -> int:
    answer = await machine.ask("sequence", {}, 5.0)
    sequence = answer["sequence"]
    return sequence if isinstance(sequence, int) else 0


async def _check_names(machine: MachineLink, names: list[str]) -> None:
    """A misspelt event would wait for ever: say so at once. What has happened once is known in any case."""
    seen = machine.events.names()
    if all(name in seen for name in names):
        return
    vocabulary = await machine.ask("vocabulary", {}, 5.0)
    listed = vocabulary.get("events", {})
    known = {str(name) for name in listed} if isinstance(listed, dict | list) else set()
    for name in names:
        if name not in known and name not in seen:
            raise ProblemError(
                422, "Unknown event", f"no such event as {name[:100]!r}", allowed=sorted(known)
            )


def _check_query(request: HTTPConnection, *allowed: str) -> None:
    for name in request.query_params:
        if name not in allowed:
            raise ProblemError(
                400,
                "Bad query",
                f"no such parameter as {name[:100]!r}",
                allowed=[a for a in allowed if a != "token"],
            )


def _seconds(text: str | None) -> float:
    if text is None:
        return TIMEOUT_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= TIMEOUT_S_MAX:
        raise ProblemError(400, "Bad query", f"'timeout' must be seconds, 0 to {TIMEOUT_S_MAX:g}")
    return seconds


def _sequence(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ProblemError(400, "Bad query", "'after' must be a sequence number, 0 or more")
    return int(text)


def _events(machine: MachineLink) -> Callable[[WebSocket], Awaitable[None]]:
    async def events(websocket: WebSocket) -> None:
        try:
            _check_query(websocket, "after", "token")
            after = _sequence(websocket.query_params.get("after"))
            after = await _now(machine) if after is None else after
            machine.events.check(after)
        except ProblemError as problem:
            await websocket.send_denial_response(problem.response())
            return
        await websocket.accept()
        watching = asyncio.ensure_future(_watch(machine, websocket, after))
        try:
            while True:
                await websocket.receive_text()  # nothing is asked of a watcher; this sees it leave
        except (WebSocketDisconnect, KeyError):
            pass
        finally:
            watching.cancel()

    return events


async def _watch(machine: MachineLink, websocket: WebSocket, after: int) -> None:
    try:
        while True:
            for event in await machine.events.next_after(after):
                await websocket.send_text(json.dumps(event, separators=(",", ":")))
                after = sequence_of(event)
    except ProblemError as problem:  # too slow: events it has not seen have left the ring
        await websocket.close(4410, str(problem.body["detail"])[:120])
    except (WebSocketDisconnect, RuntimeError):
        return


async def _page(request: Request) -> Response:
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"
    del request
    return HTMLResponse(
        PAGE.read_bytes(), headers={"Content-Security-Policy": policy, "Cache-Control": "no-store"}
    )


def _openapi(version: str, tester: bool) -> Endpoint:
    document = openapi(version, tester=tester)

    async def endpoint(request: Request) -> Response:
        del request
        return JSONResponse(document)

    return endpoint


# --- what went wrong ---------------------------------------------------------------------------------------


async def _on_problem(request: Request, error: Exception) -> Response:
    return error.response() if isinstance(error, ProblemError) else await _on_fault(request, error)


async def _on_http(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        return await _on_fault(request, error)
    if error.status_code == 405:
        allow = Headers(error.headers).get("allow", "")
        problem = ProblemError(405, "Method not allowed", f"{request.url.path} takes {allow}")
    elif error.status_code == 404:
        problem = ProblemError(404, "No such route", f"{request.url.path[:200]} is not in /openapi.json")
    else:
        problem = ProblemError(error.status_code, str(error.detail))
    response = problem.response()
    response.headers.update(error.headers or {})
    return response


async def _on_fault(request: Request, error: Exception) -> Response:
    del request, error
    return ProblemError(500, "Panel fault", "the panel made a mistake; its log says which").response()
