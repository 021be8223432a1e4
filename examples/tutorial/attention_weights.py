"""Make the weights of attention.mil: four matrices of 32-bit floats in one file."""

import numpy as np

rng = np.random.default_rng(2)

query, key, value, output = rng.normal(0, 0.2, (4, 32, 32)).astype(np.float32)
np.savez("attention.npz", query=query, key=key, value=value, output=output)
