"""Prefect tasks, one module per stage: names, caching, retries, artifacts. No logic: that is in `reflect.pipeline`."""
