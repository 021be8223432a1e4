"""Make the weights of mlp.mil."""

import numpy as np

rng = np.random.default_rng(0)

np.save("w1.npy", rng.normal(0, 0.1, (32, 64)).astype(np.float16))  # [outputs, inputs]
np.save("b1.npy", rng.normal(0, 0.1, 32).astype(np.float16))
np.save("w2.npy", rng.normal(0, 0.1, (10, 32)).astype(np.float16))
np.save("b2.npy", rng.normal(0, 0.1, 10).astype(np.float16))
