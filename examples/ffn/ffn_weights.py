"""Make the weights of ffn.mil."""

import numpy as np

rng = np.random.default_rng(0)

np.save("rms.npy", np.ones((1, 64, 1, 1), np.float16))
for name, outputs, inputs in (("w1", 128, 64), ("w2", 64, 128), ("w3", 128, 64)):
    np.save(f"{name}.npy", rng.normal(0, 0.1, (outputs, inputs, 1, 1)).astype(np.float16))
