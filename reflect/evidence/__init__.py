"""What happened: checkpoints, transcripts and commits of one repository, read as data, redacted, each with its origin."""
