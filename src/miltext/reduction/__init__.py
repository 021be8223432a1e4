"""Programs made as small as they can be while a test still passes on them."""
