"""Work on many models at once: which models paths name, executors that lose no model, and a cache of results."""
