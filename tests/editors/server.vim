" Waits until the language server of the file of the command line has written that it was started.

call wait(5000, {-> filereadable($MIL_STARTED)}, 20)
quitall!
