"""Arrays in files beside a text: `.npy`, `.npz` and `.safetensors`, opened by their headers and read in pieces."""
