"""Finding what the wiki, the sessions and the history say, behind the scope filter."""
