"""The arithmetic of devices, as measured: the Neural Engine's, and that of Core ML on the CPU."""
