"""Publish the top ten of a table every night with Airflow, by the script that cron runs.

``nightly.sh`` is beside this file, ``podium`` is on the path of Airflow's workers, and ``SHOP_ORDERS``, ``SHOP_LEDGER``
and ``SHOP_OUTPUT`` are set there. Airflow itself does not import podium.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    "nightly_top",
    schedule="30 2 * * *",
    start_date=dt.datetime(2026, 11, 1, tzinfo=dt.UTC),
    # Nights that were missed are not made up for: each would pay again, for a list of today's rows.
    catchup=False,
    max_active_runs=1,
    # A retry has the same version of the data, so a list that was paid for is repeated free of charge.
    default_args={"retries": 1, "retry_delay": dt.timedelta(minutes=10)},
) as dag:
    BashOperator(
        task_id="publish",
        bash_command='./nightly.sh "$SHOP_ORDERS" "$SHOP_LEDGER" "$SHOP_OUTPUT" {{ dag_run.run_after | ds }}',
        cwd=str(Path(__file__).resolve().parent),
        # The budget does not allow another list: that is no failure, and a retry would not help.
        skip_on_exit_code=3,
    )
