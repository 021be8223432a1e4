"""Programs made as small as possible while a test still passes on them."""
