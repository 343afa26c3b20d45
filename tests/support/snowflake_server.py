"""An emulator of Snowflake, fakesnow, as a server: run by the Python of an environment of its own.

    python tests/support/snowflake_server.py     prints its port

The emulator translates statements for DuckDB and runs them there. Of what podium sends it does not know two things,
which are put into words that it knows: COLLATE 'utf8', which is the order that DuckDB has; and EXPLAIN USING TEXT, for
which the query returns no row. It forgets what RTRIM is to take away, which is mended. A failure of its own is told to
the client, which would try again for ever.
"""

from __future__ import annotations

import importlib
import os
import signal
from typing import Any

import snowflake.connector.errors
from fakesnow import cursor, server, transforms
from sqlglot import exp

EXPLAIN = "EXPLAIN USING TEXT "


def _teach() -> None:
    parse, execute = cursor.parse_one, cursor.FakeSnowflakeCursor.execute

    def parse_known(command: str) -> Any:
        known = f"SELECT * FROM ({command.removeprefix(EXPLAIN)}) LIMIT 0" if command.startswith(EXPLAIN) else command
        tree = parse(known)
        for node in list(tree.find_all(exp.Collate)):
            node.replace(node.this)
        for node in list(tree.find_all(exp.CollateColumnConstraint)):
            node.parent.pop()
        return tree

    forget = transforms.trim_cast_varchar

    def remember(tree: Any) -> Any:
        return tree if tree.args.get("expression") else forget(tree)

    def execute_or_tell(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return execute(self, *arguments, **options)
        except snowflake.connector.errors.Error:
            raise
        except Exception as error:
            raise snowflake.connector.errors.ProgrammingError(msg=repr(error), errno=9999, sqlstate="99999") from error

    transforms.trim_cast_varchar = remember
    cursor.parse_one = parse_known
    # The package has a function of the same name as this module.
    importlib.import_module("fakesnow.server").parse_one = parse_known  # type: ignore[attr-defined]
    cursor.FakeSnowflakeCursor.execute = execute_or_tell


if __name__ == "__main__":
    _teach()
    with server() as connection:
        print(connection["port"], flush=True)  # noqa: T201 - whoever started this reads it
        # It logs every request there, and nobody reads on.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signal.pause()
