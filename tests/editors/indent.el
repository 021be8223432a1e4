;; Writes, for each file of the command line, a line of JSON: the indents of its lines once they were all indented anew,
;; and those of new lines, one below each.

(require 'json)

(defun each-line (action)
  "What ACTION returns on each line, as a vector."
  (let (found)
    (goto-char (point-min))
    (while (not (eobp))
      (push (save-excursion (funcall action)) found)
      (forward-line))
    (vconcat (nreverse found))))

(defun new-line-indent ()
  "The indent of a new line below this one."
  (end-of-line)
  (newline-and-indent)
  (prog1 (current-column)
    (delete-region (line-end-position 0) (point))))

(dolist (file command-line-args-left)
  (with-temp-buffer
    (insert-file-contents file)
    (mil-mode)
    (goto-char (point-min))
    (while (re-search-forward "^[ \t]+" nil t) (replace-match ""))
    (let ((inhibit-message t)) (indent-region (point-min) (point-max)))
    (let ((again (each-line #'current-indentation)) (new (each-line #'new-line-indent)))
      (write-region (concat (json-encode (list again new)) "\n") nil (getenv "MIL_OUT") t 'silent))))
(setq command-line-args-left nil)
