" Vim filetype plugin
" Language: MIL, the text of Core ML's programs

if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=s1:/*,mb:*,ex:*/,://
setlocal commentstring=//\ %s
setlocal expandtab shiftwidth=4 softtabstop=4
setlocal iskeyword=a-z,A-Z,48-57,_,@-@
setlocal matchpairs+=<:>
setlocal formatoptions-=t formatoptions+=croql
execute 'setlocal complete+=k dictionary+=' . fnameescape(expand('<sfile>:p:h:h') . '/words/mil.txt')

let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< iskeyword< matchpairs<'
      \ . ' formatoptions< complete< dictionary<'
