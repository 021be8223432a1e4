" Writes, for each file of the command line, a line of JSON: the indents of its lines once they were all indented anew,
" and those of new lines, one below each.

for s:file in argv()
  execute 'edit!' fnameescape(s:file)
  set noreadonly modifiable
  silent %substitute/^\s\+//e
  silent normal! gg=G
  let s:again = map(range(1, line('$')), 'indent(v:val)')
  let s:new = []
  for s:line in range(1, line('$'))
    execute s:line
    execute "normal! o."
    call add(s:new, indent('.'))
    undo
  endfor
  call writefile([json_encode([s:again, s:new])], $MIL_OUT, 'a')
endfor
quitall!
