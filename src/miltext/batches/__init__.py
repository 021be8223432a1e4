"""Work on many models at once: the models that paths name, executors that lose no model, and a cache of results."""
