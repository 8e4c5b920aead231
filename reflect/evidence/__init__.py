"""What happened: checkpoints, transcripts and commits of one repository, read as data and redacted, each with its origin."""
