"""How well the wikis of an organisation are: the ledger's history of lint, as a document, a page and tables.

It is the operator's: it names pages of every project, and nothing of it goes into a wiki or to a single project.
"""
