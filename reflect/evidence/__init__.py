"""What happened: checkpoints, transcripts and commits, read as data, redacted, each word with who wrote it."""
