-- Reads a file as init.lua would, with the table of nvim-treesitter, and writes the entry for MIL and a buffer's filetype.

local parsers = {}
package.preload['nvim-treesitter.parsers'] = function()
  return parsers
end
dofile(os.getenv('MIL_LUA'))
vim.cmd('doautocmd User TSUpdate')
vim.cmd('edit model.mil')
local found = { installed = parsers.mil.install_info, filetype = vim.bo.filetype }
vim.fn.writefile({ vim.fn.json_encode(found) }, os.getenv('MIL_OUT'))
