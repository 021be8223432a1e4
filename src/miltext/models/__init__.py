"""Core ML models from files and folders: MIL text, models, packages, compiled bundles, and bare Programs."""
