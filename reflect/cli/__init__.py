"""The `reflect` command: the outermost room, and the only one that may call a flow."""
