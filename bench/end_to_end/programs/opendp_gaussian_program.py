"""OpenDP's Polars API with Gaussian noise: zero-concentrated DP, whose rho the user converts by hand."""

from __future__ import annotations

from protocol import main


# user code
def top(path: str, k: int, bound: int, epsilon: float, delta: float) -> list[object]:
    import math

    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib", "honest-but-curious")
    # Half of delta is for the threshold, half for the conversion: epsilon = rho + 2 sqrt(rho ln(2/delta)).
    tail = math.log(2 / delta)
    rho = (math.sqrt(epsilon + tail) - math.sqrt(tail)) ** 2
    context = dp.Context.compositor(
        data=pl.scan_parquet(path).select("user_id", "item"),
        privacy_unit=dp.unit_of(contributions=1, identifier="user_id"),
        privacy_loss=dp.loss_of(rho=rho, delta=delta / 2),
        split_evenly_over=1,
    )
    query = (
        context.query()
        .truncate_per_group(1, by=["item"])
        .truncate_num_groups(bound, by=["item"], keep="first")
        .group_by("item")
        .agg(dp.len(signed=True).alias("n"))
    )
    return query.release().collect().sort("n", descending=True)["item"].head(k).to_list()


# end
if __name__ == "__main__":
    main(top)
