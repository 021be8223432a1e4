"""Constants that follow from sizes that change: which those are, and what they are at the new sizes."""
