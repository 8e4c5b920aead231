"""Serving search, pages, status and lint to agents over the Model Context Protocol, behind the scope filter."""
