;; Writes, for each file of the command line, a line of JSON: the [offset, face, text] of all that is highlighted.

(require 'json)

(defun faces ()
  (let ((position (point-min)) found)
    (while (< position (point-max))
      (let ((face (get-text-property position 'face))
            (end (next-single-property-change position 'face nil (point-max))))
        (when face
          (push (list (1- position) (symbol-name face) (buffer-substring-no-properties position end)) found))
        (setq position end)))
    (vconcat (nreverse found))))

(dolist (file command-line-args-left)
  (let ((line (with-current-buffer (find-file-noselect file)
                (font-lock-ensure)
                (concat (json-encode (faces)) "\n"))))
    (write-region line nil (getenv "MIL_OUT") t 'silent)))
(setq command-line-args-left nil)
