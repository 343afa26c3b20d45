"""A Spark job: the top list of a table that only the cluster can read.

    spark-submit examples/spark_job.py /data/orders --item product --user customer --output top.json

The cluster counts users per item. The driver fetches counts, selects the items and writes the release.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

import podium


def main(arguments: Sequence[str] | None = None) -> podium.Release:
    """Parse the command line, ask the question, write the release."""
    parser = argparse.ArgumentParser(description="The private top list of a Parquet table, on Spark.")
    parser.add_argument("path", help="Parquet files that the cluster can read")
    parser.add_argument("--item", required=True)
    parser.add_argument("--user", required=True)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-8")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    session = SparkSession.builder.appName("podium: top list").getOrCreate()
    session.read.parquet(options.path).createOrReplaceTempView("podium_orders")
    release = podium.top(
        session, table="podium_orders", item=options.item, user=options.user, k=options.k,
        epsilon=options.epsilon, delta=options.delta,
    )  # fmt: skip
    options.output.write_text(release.to_json(), encoding="utf-8")
    return release


if __name__ == "__main__":
    main()
