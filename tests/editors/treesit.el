;;; treesit.el --- The patterns that `mil-ts-mode' gives tree-sitter, as text  -*- lexical-binding: t -*-

;;; Code:

(require 'mil-ts-mode)

(defun treesit-ready-p (&rest _) "Whether there is a parser: as if." t)
(defun treesit-parser-create (&rest _) "Make no parser.")
(defun treesit-major-mode-setup () "Set nothing up.")
(defun treesit-font-lock-rules (&rest specs) "Return the query at the end of SPECS." (car (last specs)))

(with-temp-buffer
  (mil-ts-mode)
  (let ((patterns (mapconcat (lambda (part) (format "%S" part)) treesit-font-lock-settings "\n")))
    (write-region patterns nil (getenv "MIL_OUT"))))

;;; treesit.el ends here
