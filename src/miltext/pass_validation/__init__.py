"""coremltools' default passes, run one by one: a fault of a pass is reported with a small program that shows it."""
