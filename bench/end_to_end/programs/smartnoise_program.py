"""SmartNoise SQL: noise on the count of every item, small ones hidden, ORDER BY and LIMIT afterwards."""

from __future__ import annotations

from protocol import main


# user code
def top(path: str, k: int, bound: int, epsilon: float, delta: float) -> list[object]:
    import pandas as pd
    import snsql

    frame = pd.read_parquet(path, columns=["user_id", "item"])
    columns = {"user_id": {"type": "int", "private_id": True}, "item": {"type": "string"}}
    meta = {"": {"t": {"rows": {"max_ids": bound, "rows": len(frame), **columns}}}}
    # It reports 1.5 times the delta that it is given.
    privacy = snsql.Privacy(epsilon=epsilon, delta=delta * 2 / 3)
    reader = snsql.from_df(frame, privacy=privacy, metadata=meta)
    rows = reader.execute(
        f"SELECT item, COUNT(DISTINCT user_id) AS n FROM t.rows GROUP BY item ORDER BY n DESC LIMIT {k}"
    )
    return [item for item, _ in rows[1:]]


# end
if __name__ == "__main__":
    main(top)
