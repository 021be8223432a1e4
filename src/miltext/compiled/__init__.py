"""The files of compiled models: what Apple's compiler states in them."""
