"""Running the service: jobs, turns, logs, metrics, probes."""
