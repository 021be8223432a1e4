autocmd BufNewFile,BufRead *.mil setfiletype mil
