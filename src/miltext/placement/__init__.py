"""Where operations run: placements from dumps and compute plans, their differences, and predictions by proven rules."""
