;; Starts the language server of the file of the command line, where there is eglot.

(package-initialize) ; older Emacs has eglot only as a package
(when (require 'eglot nil t)
  (setq eglot-sync-connect nil)
  (with-current-buffer (find-file-noselect (pop command-line-args-left))
    (eglot-ensure)
    (run-hooks 'post-command-hook)
    (let ((until (time-add nil 5)))
      (while (and (not (file-exists-p (getenv "MIL_STARTED"))) (time-less-p nil until))
        (accept-process-output nil 0.05)))))
(setq command-line-args-left nil)
