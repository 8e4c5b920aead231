"""qmd as a second opinion on the pages: installed on request, kept apart from any other qmd, never needed."""
