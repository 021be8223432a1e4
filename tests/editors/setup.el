;; Writes what is set up for the file of the command line.

(require 'json)

(defun words-from (start)
  "What can complete START."
  (goto-char (point-max))
  (insert start)
  (pcase-let ((`(,from ,to ,words . ,_) (mil-completion-at-point)))
    (all-completions (buffer-substring from to) words)))

(with-current-buffer (find-file-noselect (pop command-line-args-left))
  (let ((found (list (cons 'mode major-mode)
                     (cons 'comment comment-start)
                     (cons 'words (vconcat (mapcan #'words-from '(" kee" " rel" " tens" " inter")))))))
    (write-region (json-encode found) nil (getenv "MIL_OUT") nil 'silent)
    (set-buffer-modified-p nil)))
