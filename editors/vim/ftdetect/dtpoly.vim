autocmd BufNewFile,BufRead *.dt setfiletype dtpoly
