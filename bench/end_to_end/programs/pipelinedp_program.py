"""PipelineDP on this machine: Gaussian noise on privacy id counts, private partitions by post-aggregation threshold."""

from __future__ import annotations

from protocol import main


# user code
def top(path: str, k: int, bound: int, epsilon: float, delta: float) -> list[object]:
    import pandas as pd
    import pipeline_dp

    frame = pd.read_parquet(path, columns=["user_id", "item"])
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
        noise_kind=pipeline_dp.NoiseKind.GAUSSIAN,
        max_partitions_contributed=bound,
        max_contributions_per_partition=1,
        post_aggregation_thresholding=True,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda row: 0
    )
    result = engine.aggregate(list(frame.itertuples(index=False, name=None)), params, extractors)
    budget.compute_budgets()
    counts = sorted(((found.privacy_id_count, item) for item, found in result), reverse=True)
    return [item for _, item in counts[:k]]


# end
if __name__ == "__main__":
    main(top)
