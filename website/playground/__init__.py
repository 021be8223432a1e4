"""The playground: miltext itself in a page, under Pyodide. `building` makes its folder, `session` runs in the page."""
