" Settings of .dt files, and the language server of Neovim.
setlocal commentstring=#\ %s
setlocal expandtab shiftwidth=4
if has('nvim-0.8')
  lua vim.lsp.start({ name = 'dtpoly', cmd = { 'dtpoly', 'lsp' }, root_dir = vim.fn.getcwd() })
endif
