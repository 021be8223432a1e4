"""Texts that the Core ML runtime writes of a model that it has planned: `analytics.mil`.

`texts` recognises and reads them into a `Dump`, whose operations are PlacedOperations (`placed`).
"""
