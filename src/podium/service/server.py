"""Start the workers, or check their settings."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from uvicorn.supervisors import Multiprocess

from podium.errors import InvalidArgument
from podium.service.settings import CONFIG_VARIABLE, Settings
from podium.service.store.database import open_state
from podium.service.store.datasets import Dataset, Datasets

__all__ = ["check", "run_workers", "serve"]


def check(settings: Settings) -> list[tuple[str, str]]:
    """Open everything once, as a worker would, and report what was found. Registers new data sets."""
    state = open_state(settings.state)
    datasets = Datasets(settings, state)
    try:
        names = datasets.check()
        found = [("ledger", datasets.ledger.name), ("data sets", ", ".join(names) or "none yet")]
        found += [(name, _describe(datasets.get(name))) for name in names]
    finally:
        datasets.close()
        state.close()
    server = settings.server
    return [*found, ("address", f"http://{server.host}:{server.port}"), ("workers", str(server.workers))]


def _describe(dataset: Dataset) -> str:
    """How many columns there are, in each table if there are several."""
    counted = [(table.name, f"{len(table.columns)} columns") for table in dataset.tables]
    return ", ".join(f"{name}: {told}" if len(counted) > 1 else told for name, told in counted)


def serve(settings: Settings, config: Path, *, on_listening: Callable[[], None]) -> None:
    """Run until stopped; ``on_listening`` is called once the address is bound.

    On SIGTERM, connections get the time that the settings allow, and running questions may finish.
    """
    os.environ[CONFIG_VARIABLE] = str(config.absolute())
    server = settings.server
    run_workers(
        uvicorn.Config(
            "podium.service.app:from_environment",
            factory=True,
            host=server.host,
            port=server.port,
            workers=server.workers,
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=server.shutdown_seconds,
            # By name: importing it before the worker runs would make the worker seem dead to its supervisor.
            http="podium.service.http.connections:Connection",
            # WebSockets are not used, and an upgraded connection would have no deadline.
            ws="none",
        ),
        on_listening,
    )


def run_workers(config: uvicorn.Config, on_listening: Callable[[], None] = lambda: None) -> None:
    """Run the workers of an app on one socket."""
    try:
        listener = config.bind_socket()
    except SystemExit:
        raise InvalidArgument(
            "server.port",
            config.port,
            allowed=f"a port of {config.host} that is free and that this account may listen on",
            hint="Stop what listens there, or set another host or port under [server].",
        ) from None
    on_listening()
    # Connections inherit it. Without it a response body waits 40 ms for the ACK of its headers, because the event
    # loop sets it only on sockets that were created with an explicit protocol.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        if config.workers > 1:
            Multiprocess(config, sockets=[listener]).run()
        else:
            uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        # Ctrl-C is the usual way to stop; the server has shut down cleanly by then.
        pass
    finally:
        listener.close()
