" Writes, for each file of the command line, a line of JSON: the [line, start, end, group] of each word and sign.
" The groups of MIL are unlinked from Vim's own, so that each is told from the others.

for s:group in getcompletion('mil', 'highlight')
  if s:group =~# '^mil\a\+$'
    execute 'highlight! link' s:group 'NONE'
  endif
endfor

function! s:Groups() abort
  let l:found = []
  for l:line in range(1, line('$'))
    let l:text = getline(l:line)
    let [l:word, l:start, l:end] = matchstrpos(l:text, '\k\+\|\S')
    while l:start >= 0
      let l:name = synIDattr(synIDtrans(synID(l:line, l:start + 1, 1)), 'name')
      call add(l:found, [l:line - 1, charidx(l:text, l:start), charidx(l:text, l:end - 1) + 1, l:name])
      let [l:word, l:start, l:end] = matchstrpos(l:text, '\k\+\|\S', l:end)
    endwhile
  endfor
  return l:found
endfunction

set synmaxcol=0 redrawtime=0
for s:file in argv()
  execute 'edit' fnameescape(s:file)
  call writefile([json_encode(s:Groups())], $MIL_OUT, 'a')
endfor
quitall!
