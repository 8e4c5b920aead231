"""Writing a wiki back: commit, push, or one pull request that is kept up to date."""
