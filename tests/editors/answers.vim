" Neovim: writes what the language server says of the file of the command line, and what it makes of it.

lua << EOF
local out = {}
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
out.diagnostics = vim.tbl_map(function(each)
  return { each.lnum, each.col, each.code or each.user_data.lsp.code, each.source }
end, vim.diagnostic.get(0))

local function ask(method, line, character, more)
  local params = vim.tbl_extend('force', {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = line, character = character },
  }, more or {})
  local answers = vim.lsp.buf_request_sync(0, method, params, 30000)
  local _, answer = next(answers or {})
  return answer and answer.result or vim.NIL
end

out.hover = ask('textDocument/hover', 3, 30).contents.value
out.definition = ask('textDocument/definition', 4, 43)
local edit = ask('textDocument/rename', 3, 30, { newName = 'first' })
vim.lsp.util.apply_workspace_edit(edit, 'utf-16')
out.renamed = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n') .. '\n'
vim.wait(30000, function() return #vim.diagnostic.get(0) == 0 end, 20)
out.left = #vim.diagnostic.get(0)
vim.fn.writefile({ vim.fn.json_encode(out) }, vim.env.MIL_OUT)
EOF
quitall!
