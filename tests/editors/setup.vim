" Writes what is set up for the file of the command line.

let s:found = {'mode': &filetype, 'comment': &commentstring}
let s:found.words = readfile(&dictionary)
execute b:undo_ftplugin
execute b:undo_indent
let s:found.undone = &l:dictionary . &l:indentexpr
call writefile([json_encode(s:found)], $MIL_OUT)
quitall!
