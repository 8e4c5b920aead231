"""Many repositories as one organisation: the file that lists them, their clones, who holds which, and a night."""
