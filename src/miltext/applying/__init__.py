"""A Difference carried out: the old model with the edits of its entries, which make it the new one."""
