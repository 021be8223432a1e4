" Vim indent file
" Language: MIL, the text of Core ML's programs. Lines come to stand as `miltext fmt` lays them out.

if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal nolisp noautoindent
setlocal indentexpr=MilIndent(v:lnum)
setlocal indentkeys=0{,0},0),0],!^F,o,O
let b:undo_indent = 'setlocal lisp< autoindent< indentexpr< indentkeys<'

if exists('*MilIndent')
  finish
endif

let s:aside = '"\%([^"\\]\|\\.\)*"\|//.*\|/\*.\{-}\%(\*/\|$\)\|^\s*\*.*'
let s:pair = '([^][(){}]*)\|\[[^][(){}]*\]\|{[^][(){}]*}'
let s:blank = '\=repeat(" ", len(submatch(0)))'

function! MilIndent(line) abort
  let l:closing = getline(a:line) =~# '^\s*[])}]'
  let l:previous = prevnonblank(a:line - 1)
  if !l:closing && s:IsStatement(l:previous)
    return indent(l:previous)
  endif
  let l:open = s:Back([a:line, 0], '')
  if empty(l:open)
    return 0
  elseif s:Char(l:open) !=# '{'
    return s:Column(l:open) + (l:closing ? 0 : shiftwidth())
  elseif l:closing
    return s:Column(l:open) + (s:Function(l:open) ? shiftwidth() : 0)
  endif
  return s:IndentInBlock(a:line, l:open)
endfunction

function! s:IndentInBlock(line, open) abort
  let l:statement = s:Next(s:Back([a:line, 0], ';'))
  if l:statement[0] < a:line
    return indent(l:statement[0]) + shiftwidth()
  endif
  let l:first = s:Next(a:open)
  if l:first[0] < a:line
    return l:first[1]
  endif
  return s:Column(a:open) + shiftwidth() * (s:Function(a:open) ? 2 : 1)
endfunction

" A line's text with spaces for its strings and comments.
function! s:Text(text) abort
  return substitute(a:text, s:aside, s:blank, 'g')
endfunction

" The same with spaces for what is bracketed, too, so that only the brackets of other lines are left.
function! s:Outside(text) abort
  let l:text = s:Text(a:text)
  let l:before = ''
  while l:text !=# l:before
    let l:before = l:text
    let l:text = substitute(l:text, s:pair, s:blank, 'g')
  endwhile
  return l:text
endfunction

" Whether a line is a whole statement, as most are: it makes a scan of the block needless.
function! s:IsStatement(line) abort
  let l:before = s:Outside(getline(prevnonblank(a:line - 1)))
  return s:Outside(getline(a:line)) =~# '^[^][(){};]*;\s*$' && l:before =~# '[;{]\s*$'
endfunction

" The place, line and column from 0, of the bracket that is open before a place, or of the separator that stands inside
" that bracket; empty where none is.
function! s:Back(place, separator) abort
  let l:depth = 0
  for l:line in range(a:place[0], 1, -1)
    let l:text = s:Outside(l:line == a:place[0] ? strpart(getline(l:line), 0, a:place[1]) : getline(l:line))
    let l:column = match(l:text, '[][(){};][^][(){};]*$')
    while l:column >= 0
      let l:char = l:text[l:column]
      if l:depth == 0 && (l:char ==# a:separator || l:char =~# '[[({]')
        return [l:line, l:column]
      endif
      let l:depth += l:char =~# '[])}]' ? 1 : l:char ==# ';' ? 0 : -1
      let l:column = match(strpart(l:text, 0, l:column), '[][(){};][^][(){};]*$')
    endwhile
  endfor
  return []
endfunction

" The place of the next character behind a place, or in the file, that is no part of a comment.
function! s:Next(place) abort
  let l:column = empty(a:place) ? 0 : a:place[1] + 1
  for l:line in range(empty(a:place) ? 1 : a:place[0], line('$'))
    let l:found = match(s:Text(getline(l:line)), '\S', l:column)
    if l:found >= 0
      return [l:line, l:found]
    endif
    let l:column = 0
  endfor
  return [line('$') + 1, 0]
endfunction

function! s:Char(place) abort
  return getline(a:place[0])[a:place[1]]
endfunction

" The line of the function whose own block opens at a place; 0 for another block.
function! s:Function(open) abort
  let l:start = s:Next(s:Back(a:open, ';'))
  let l:lines = getline(l:start[0], a:open[0])
  let l:lines[-1] = strpart(l:lines[-1], 0, a:open[1])
  let l:lines[0] = strpart(l:lines[0], l:start[1])
  let l:text = join(map(l:lines, 's:Text(v:val)'))
  return l:text =~# '^func\>' && l:text !~# '->\|\$block\>\|\$none\>' ? l:start[0] : 0
endfunction

" The indent of the line of an opening bracket, or of the function whose block it opens.
function! s:Column(open) abort
  let l:function = s:Char(a:open) ==# '{' ? s:Function(a:open) : 0
  return indent(l:function ? l:function : a:open[0])
endfunction
