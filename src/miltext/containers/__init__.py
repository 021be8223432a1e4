"""The containers of models, opened: MIL text, models, packages, compiled bundles, and bare Programs."""
