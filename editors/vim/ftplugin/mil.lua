-- Neovim: starts the language server of miltext where the command is installed. `let g:mil_lsp = v:false` keeps it from
-- that; `let g:mil_lsp = ['/path/to/miltext', 'lsp']` names another command.

local command = vim.g.mil_lsp
if command == nil then
  command = { 'miltext', 'lsp' }
end
if not command or vim.fn.executable(command[1]) == 0 then
  return
end

local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':p:h')
local config = { name = 'miltext', cmd = command, root_dir = folder }

if vim.lsp.start then
  vim.lsp.start(config)
else -- Neovim 0.7
  vim.g.mil_lsp_client = vim.g.mil_lsp_client or vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(0, vim.g.mil_lsp_client)
end
