"""The engine that needs no key, no model and no network: structure first, cue phrases second, verbatim quotes only."""
