;;; mil-mode.el --- Major mode for MIL, the text of Core ML's programs  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Highlights by the states of miltext's own lexer (mil-tables.el), indents as
;; `miltext fmt' lays out, completes the words of the language, and tells eglot
;; of the language server `miltext lsp'.

;;; Code:

(require 'mil-tables)
(require 'seq)

(defgroup mil nil
  "MIL, the text of Core ML's programs."
  :group 'languages)

(defcustom mil-indent-offset 4
  "Columns of one level; the operations of a function stand two levels deep."
  :type 'integer
  :safe #'integerp)

(defmacro mil--defface (name parent says)
  "Define the face NAME, which inherits PARENT and SAYS what it is for."
  `(defface ,name '((t :inherit ,parent)) ,says))

(mil--defface mil-operation font-lock-keyword-face "An operation that is known.")
(mil--defface mil-parameter font-lock-builtin-face "The name of an argument or attribute.")
(mil--defface mil-opset font-lock-constant-face "An opset.")
(mil--defface mil-use default "The name of a value where it is used.")
(mil--defface mil-number font-lock-constant-face "A number.")
(mil--defface mil-constant font-lock-constant-face "A bool, or a dimension of any size.")
(mil--defface mil-escape font-lock-regexp-grouping-backslash "An escape in a string.")
(mil--defface mil-marker font-lock-preprocessor-face "A word of miltext's own.")
(mil--defface mil-blobfile font-lock-keyword-face "The word BLOBFILE.")
(mil--defface mil-operator default "An equals sign or arrow.")
(mil--defface mil-punctuation default "A bracket or separator.")
(mil--defface mil-error font-lock-warning-face "What no MIL text may hold there.")

(defvar mil-mode-syntax-table
  (let ((table (make-syntax-table)))
    (dolist (char '(?_ ?@ ?.)) (modify-syntax-entry char "_" table))
    (dolist (char '(?$ ?< ?> ?- ?+ ?= ?? ?' ?&)) (modify-syntax-entry char "." table))
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    table)
  "What may not follow a word or a number is what makes a symbol.")

;;; Where statements begin

(defun mil--only-braces-p (opens)
  "Whether the brackets at OPENS are all braces."
  (seq-every-p (lambda (open) (eq (char-after open) ?{)) opens))

(defun mil--separates-p (depth)
  "Whether the `;' or `{' at point comes before a statement inside DEPTH braces."
  (let ((syntax (save-excursion (syntax-ppss))))
    (and (not (nth 8 syntax))
         (mil--only-braces-p (nth 9 syntax))
         (= depth (+ (nth 0 syntax) (if (eq (char-after) ?{) 1 0))))))

(defun mil--statement-start ()
  "Move back to behind the `;' or `{' where the statement at point begins.
Return how many braces are open there."
  (let ((syntax (syntax-ppss)))
    (goto-char (or (seq-find (lambda (open) (not (eq (char-after open) ?{))) (nth 9 syntax))
                   (nth 8 syntax)
                   (point))))
  (let ((depth (nth 0 (syntax-ppss))))
    (while (and (re-search-backward "[;{]" nil 'move) (not (mil--separates-p depth))))
    (unless (bobp) (forward-char))
    (nth 0 (syntax-ppss))))

;;; Highlighting

(defun mil--rules (state)
  "The rules of STATE, those of the states that it includes among them."
  (seq-mapcat (lambda (entry) (if (symbolp entry) (mil--rules entry) (list entry)))
              (alist-get state mil-states)))

(defun mil--pattern (pattern group)
  "The regular expression of a rule's PATTERN, in which GROUP is what it reads."
  (pcase pattern
    (`(words . ,words) (mil--pattern (concat (regexp-opt words) "\\_>") group))
    (`(,read . ,following) (concat (mil--pattern read group) following))
    (read (format "\\(?%d:%s\\)" group read))))

(defun mil--compile (state)
  "One expression for all rules of STATE, and a vector of the rules by its groups."
  (let ((rules (mil--rules state)) (group 0))
    (cons (mapconcat (lambda (rule)
                       (mil--pattern (car rule) (setq group (1+ group))))
                     rules "\\|")
          (vconcat rules))))

(defconst mil--compiled
  (mapcar (lambda (state) (cons (car state) (mil--compile (car state)))) mil-states)
  "What `mil--compile' makes of each state.")

(defun mil--matched (rules)
  "The one of RULES whose group matched, and where that ends."
  (let ((group 1))
    (while (not (match-beginning group)) (setq group (1+ group)))
    (cons (match-end group) (aref rules (1- group)))))

(defun mil--step (stack from)
  "Read what stands at point in the first state of STACK; return the new stack.
Give it a face as far as it stands behind FROM."
  (let ((compiled (alist-get (car stack) mil--compiled)))
    (if (not (looking-at (car compiled)))
        (progn (forward-char) stack)
      (pcase-let ((`(,end ,_ ,face ,target) (mil--matched (cdr compiled))))
        (unless (eq face 'ahead)
          (goto-char end)
          (when (and face (> (point) from))
            (put-text-property (max from (match-beginning 0)) (point) 'face face)))
        (cond ((null target) stack)
              ((eq target 'pop) (cdr stack))
              (t (cons target stack)))))))

(defun mil--states (depth)
  "The states, the innermost first, where a statement begins inside DEPTH braces."
  (append (make-list (max 0 (1- depth)) 'block)
          (when (> depth 1) '(function))
          (when (> depth 0) '(functions))
          '(root)))

(defun mil--fontify (limit)
  "Highlight from point to LIMIT.
Return nil, for font-lock has nothing left to do."
  (let* ((case-fold-search nil)
         (from (point))
         (stack (mil--states (mil--statement-start))))
    (while (< (point) limit)
      (setq stack (mil--step stack from)))))

;;; Indentation

(defun mil--function-start (open)
  "Where the function begins whose own block opens at OPEN; nil for another block."
  (save-excursion
    (goto-char open)
    (mil--statement-start)
    (forward-comment (point-max))
    (let ((start (point)))
      (and (looking-at "func\\_>")
           (not (re-search-forward "->\\|\\$\\(?:none\\|block\\)\\_>" open t))
           start))))

(defun mil--column (open)
  "The indentation of the line, or of the function, whose block opens at OPEN."
  (save-excursion
    (goto-char (or (mil--function-start open) open))
    (current-indentation)))

(defun mil--indent-in-block (open)
  "The column of a line that begins at point in the block that opens at OPEN."
  (let ((line (point)))
    (mil--statement-start)
    (forward-comment (point-max))
    (if (< (point) line)
        (+ (current-indentation) mil-indent-offset)
      (goto-char (1+ open))
      (forward-comment (point-max))
      (if (< (point) line)
          (current-column)
        (+ (mil--column open) (* mil-indent-offset (if (mil--function-start open) 2 1)))))))

(defun mil--indent ()
  "The column at which the line should begin."
  (save-excursion
    (back-to-indentation)
    (let ((closing (memq (char-after) '(?\} ?\) ?\])))
          (open (nth 1 (syntax-ppss))))
      (cond ((null open) 0)
            ((not (eq (char-after open) ?{))
             (+ (mil--column open) (if closing 0 mil-indent-offset)))
            (closing (+ (mil--column open) (if (mil--function-start open) mil-indent-offset 0)))
            (t (mil--indent-in-block open))))))

(defun mil-indent-line ()
  "Indent the line as `miltext fmt' would lay it out."
  (interactive)
  (let ((column (mil--indent)))
    (if (> (current-column) (current-indentation))
        (save-excursion (indent-line-to column))
      (indent-line-to column))))

;;; Completion

(defconst mil--words
  (delete-dups (append mil-type-words mil-operations mil-parameters mil-keywords nil))
  "All words of the language.")

(defun mil-completion-at-point ()
  "Complete a word of the language; a language server knows better."
  (let ((bounds (bounds-of-thing-at-point 'symbol)))
    (when bounds
      (list (if (eq (char-before (car bounds)) ?$) (1- (car bounds)) (car bounds))
            (cdr bounds) mil--words :exclusive 'no))))

;;; The mode

;;;###autoload
(define-derived-mode mil-mode prog-mode "MIL"
  "Major mode for MIL, the text of Core ML's programs."
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "\\(?://+\\|/\\*+\\)\\s *")
  (setq-local font-lock-defaults '(((mil--fontify . 0)) t))
  (setq-local indent-line-function #'mil-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local electric-indent-chars (append "{}()[];\n" nil))
  (setq-local imenu-generic-expression '((nil "^ *func +\\([[:alnum:]_@]+\\)" 1)))
  (add-hook 'completion-at-point-functions #'mil-completion-at-point nil t))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.mil\\'" . mil-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(mil-mode . ("miltext" "lsp"))))

(provide 'mil-mode)
;;; mil-mode.el ends here
