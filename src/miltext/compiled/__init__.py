"""The files of compiled models, as written by Apple's compiler."""
