"""Health checks over a wiki: what is stale, broken, doubled or missing, and what can safely be mended."""
