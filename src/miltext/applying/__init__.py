"""Application of a Difference: the old model, with the edits of its entries, becomes the new model."""
