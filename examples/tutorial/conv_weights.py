"""Make the weights of conv.mil: a convolution, into which the batch norm after it is folded."""

import numpy as np

rng = np.random.default_rng(1)

weight = rng.normal(0, 0.2, (8, 3, 3, 3))  # [output channels, input channels, height, width]
gamma, beta = rng.uniform(0.5, 1.5, 8), rng.normal(0, 0.1, 8)
mean, variance = rng.normal(0, 0.1, 8), rng.uniform(0.5, 1.5, 8)

scale = gamma / np.sqrt(variance + 1e-5)
np.save("conv_w.npy", (weight * scale[:, None, None, None]).astype(np.float16))
np.save("conv_b.npy", (beta - mean * scale).astype(np.float16))
