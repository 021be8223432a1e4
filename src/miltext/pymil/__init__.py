"""Between models and programs of coremltools."""
