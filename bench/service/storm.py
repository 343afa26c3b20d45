"""Many analysts who ask real workers at once, each question twice; and the books afterwards."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.service.serving import Running, new_tokens
from podium.ledger import Entry, Kind, Ledger, Reason, open_ledger

__all__ = ["Books", "Seen", "audit_books", "storm", "unlock"]

_PLACE = "/v1/datasets/views"
_KINDS = ("ask", "plan", "ask", "budget", "ask", "releases", "permalink")
_CLIENT_SECONDS = 300
_COLUMNS = ("article", "country", "weekday")


@dataclass
class Seen:
    """What the analysts saw. ``unclear`` are refusals that do not say what is wrong and when to come back."""

    statuses: Counter[int] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    unclear: list[str] = field(default_factory=list)
    entries: dict[str, set[str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tally(self) -> str:
        """The statuses, in words."""
        shown = [f"{number} x {status}" for status, number in sorted(self.statuses.items())]
        refused = [f"{number} x {error}" for error, number in sorted(self.errors.items())]
        return f"{', '.join(shown)} ({', '.join(refused) or 'nothing refused'}), {self.lost} connections lost"


@dataclass(frozen=True)
class Books:
    """What the ledger says afterwards; ``paid_twice`` are reservations for what was answered, or being answered."""

    sound: bool
    overspent: bool
    settled: int
    paid_twice: list[int]
    unknown_entries: set[str]
    forfeited: Counter[str]
    open: int

    @property
    def in_order(self) -> bool:
        """Nothing overspent, nothing paid twice, nothing shown that was not settled."""
        return self.sound and not (self.overspent or self.paid_twice or self.unknown_entries or self.open)


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: dict[str, str]
    body: dict[str, Any]


def storm(server: Running, analysts: int, seconds: float, during: Callable[[], None] = lambda: None) -> Seen:
    """So many analysts for so long; ``during`` is what happens to the server meanwhile."""
    tokens = new_tokens(server, [f"analyst-{number}" for number in range(analysts)])
    seen, end = Seen(), time.monotonic() + seconds
    threads = [
        threading.Thread(target=_analyst, args=(server, token, number, seen, end))
        for number, token in enumerate(tokens)
    ]
    for thread in threads:
        thread.start()
    during()
    for thread in threads:
        thread.join()
    return seen


def _analyst(server: Running, token: str, name: int, seen: Seen, end: float) -> None:
    step, last = 0, None
    while time.monotonic() < end:
        kind = _KINDS[step % len(_KINDS)]
        # All ask the first of three at the same moment, the second in pairs, the third alone.
        number = (step, 31 * (name // 2) + step, 17 * name + 5 * step)[step % 3]
        # An impatient caller sends a question twice under one key.
        for _ in range(2 if kind == "ask" else 1):
            answer = _request(server, token, kind, number, key=f"{name}-{step}", entry=last)
            _note(seen, kind, json.dumps(_question(number)), answer)
            if answer is None or answer.status == 503:
                time.sleep(0.1)
            elif kind == "ask" and answer.status == 200:
                last = answer.body["entry"]
        step += 1


def _question(number: int) -> dict[str, Any]:
    return {"item": _COLUMNS[number % 3], "k": 1 + number % 4, "where": f"weekday < {1 + number % 7}"}


def _request(server: Running, token: str, kind: str, number: int, *, key: str, entry: str | None) -> _Answer | None:
    method, path, body = {
        "ask": ("POST", f"{_PLACE}/releases", _question(number)),
        "plan": ("POST", f"{_PLACE}/plan", _question(number)),
        "budget": ("GET", f"{_PLACE}/budget", None),
        "releases": ("GET", f"{_PLACE}/releases", None),
        "permalink": ("GET", _PLACE if entry is None else f"{_PLACE}/releases/{entry}", None),
    }[kind]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=_CLIENT_SECONDS)
    try:
        connection.request(
            method, path, None if body is None else json.dumps(body),
            {**headers, "Idempotency-Key": key} if kind == "ask" else headers,
        )  # fmt: skip
        answer = connection.getresponse()
        given = {name.lower(): value for name, value in answer.getheaders()}
        return _Answer(answer.status, given, json.loads(answer.read()))
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


def _note(seen: Seen, kind: str, question: str, answer: _Answer | None) -> None:
    with seen.lock:
        if answer is None:
            seen.lost += 1
            return
        seen.statuses[answer.status] += 1
        seen.kinds[kind] += 1
        if answer.status == 200:
            if kind == "ask":
                seen.entries.setdefault(question, set()).add(answer.body["entry"])
            return
        seen.errors[str(answer.body.get("error"))] += 1
        clear = answer.headers.get("content-type") == "application/problem+json" and answer.body.get("detail")
        if not clear or (answer.status == 503 and "retry-after" not in answer.headers):
            seen.unclear.append(f"{answer.status} {answer.body}")


def unlock(ledger: str) -> None:
    """What an owner does who has seen why questions failed."""
    with open_ledger(ledger, create=False) as opened:
        if opened.status("views").locked:
            opened.unlock("views")


def audit_books(ledger: str, seen: Seen) -> Books:
    """Walk the chain, add everything up, and look for answers that were paid for twice."""
    with open_ledger(ledger, create=False) as opened:
        return _books(opened, seen)


def _books(ledger: Ledger, seen: Seen) -> Books:
    status, history = ledger.status("views"), ledger.history("views")
    settled = {entry.hash for entry in history if entry.kind is Kind.SETTLED}
    return Books(
        sound=ledger.verify().sound,
        overspent=status.totals.whole.share(status.held) > 1,
        settled=len(settled),
        paid_twice=_paid_twice(history),
        unknown_entries=set().union(*seen.entries.values()) - settled,
        forfeited=Counter(str(Reason(one.facts["reason"])) for one in history if one.kind is Kind.FORFEITED),
        open=status.open_reservations,
    )


def _paid_twice(history: Sequence[Entry]) -> list[int]:
    """Reservations made although an earlier one of the same question had been settled, or was still open.

    The longer list of the same question counts as the same; one that was forfeited before does not.
    """
    closings = {one.reservation: one for one in history if one.kind in (Kind.SETTLED, Kind.FORFEITED)}
    found, earlier = [], list[Entry]()
    for entry in history:
        if entry.kind is not Kind.RESERVED:
            continue
        for other in earlier:
            closing = closings.get(other.sequence)
            given_up = closing is not None and closing.kind is Kind.FORFEITED and closing.sequence < entry.sequence
            if not given_up and _answers(other, entry):
                found.append(entry.sequence)
        earlier.append(entry)
    return found


def _answers(other: Entry, entry: Entry) -> bool:
    same = (other.question_key, other.data_version) == (entry.question_key, entry.data_version)
    return same and json.loads(other.question or "{}")["k"] >= json.loads(entry.question or "{}")["k"]
