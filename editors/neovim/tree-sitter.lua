-- Neovim: gives nvim-treesitter the grammar in the folder `tree-sitter` beside this one. `:TSInstall mil` then makes the
-- parser and installs the queries. Without the parser, the highlighting of `editors/vim` stays.

local editors = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h')

vim.filetype.add({ extension = { mil = 'mil' } })

vim.api.nvim_create_autocmd('User', {
  pattern = 'TSUpdate',
  callback = function()
    require('nvim-treesitter.parsers').mil = {
      install_info = {
        path = editors .. '/tree-sitter',
        generate = true,
        generate_from_json = false,
        queries = 'queries',
      },
    }
  end,
})

vim.api.nvim_create_autocmd('FileType', {
  pattern = 'mil',
  callback = function()
    pcall(vim.treesitter.start)
  end,
})
