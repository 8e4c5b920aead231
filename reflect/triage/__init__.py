"""Triage: what of the evidence is worth a page, and on which page it belongs.

An engine reads one session (or the commits) and gives findings, plans over all findings and the existing pages, and
says what stands on each page. `views` decides what an engine may see, `routing` finds the page a statement belongs to,
`categories` names the folders, and `extractive` is the engine that needs no model: it quotes and never paraphrases.
"""
