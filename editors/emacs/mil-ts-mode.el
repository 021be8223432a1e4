;;; mil-ts-mode.el --- MIL by tree-sitter's parser  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `mil-mode' with the highlighting of tree-sitter's nodes, in Emacs 29 or later
;; with a parser of MIL.  Without one, the highlighting of `mil-mode' stays.

;;; Code:

(require 'mil-mode)
(require 'treesit nil t)

(declare-function treesit-ready-p "treesit")
(declare-function treesit-parser-create "treesit.c")
(declare-function treesit-font-lock-rules "treesit")
(declare-function treesit-major-mode-setup "treesit")
(defvar treesit-font-lock-feature-list)
(defvar treesit-font-lock-settings)

(defconst mil-ts--operations
  (let ((known (concat "\\`" (regexp-opt mil-operations) "\\'")))
    `(((operation type: (name) @mil-operation) (:match ,known @mil-operation))
      ((call type: (name) @mil-operation) (:match ,known @mil-operation))
      (operation type: (name) @font-lock-function-name-face)
      (call type: (name) @font-lock-function-name-face)))
  "The patterns of operations: of two for a node, the first one counts.")

(defun mil-ts--setup ()
  "Highlight the buffer by the nodes of tree-sitter's parser."
  (treesit-parser-create 'mil)
  (setq-local font-lock-defaults '(nil))
  (setq-local treesit-font-lock-feature-list '((mil)))
  (setq-local treesit-font-lock-settings
              (treesit-font-lock-rules
               :language 'mil
               :feature 'mil
               (append mil-ts-patterns mil-ts--operations)))
  (treesit-major-mode-setup))

;;;###autoload
(define-derived-mode mil-ts-mode mil-mode "MIL"
  "Major mode for MIL, with the highlighting of tree-sitter."
  (when (and (fboundp 'treesit-ready-p) (treesit-ready-p 'mil))
    (mil-ts--setup)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.mil\\'" . mil-ts-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((mil-ts-mode :language-id "mil") . ("miltext" "lsp"))))

(provide 'mil-ts-mode)
;;; mil-ts-mode.el ends here
