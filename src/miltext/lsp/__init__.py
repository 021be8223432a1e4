"""The language server: MIL text as an editor asks about it.

`positions` and `trees` are where things stand, `scopes` what the names mean, `reading` all that is read of one text.
`documents` keeps the open files, and `client` tells what the client can do. `completion`, `diagnosing`, `formatting`,
`hover`, `naming`, `outline` and `semantic_tokens` answer requests; they get facts from `context`, `operations` and
`weights`. `requests` is the table of the requests that a function of a `View` answers. `server` is the only module that
speaks the protocol: pygls moves the messages, and the work is done in threads, so that a long check holds nothing else
up. The editor starts `guarding`, which hands messages on to `workers`, processes with a server each, and moves
documents between these where a text keeps one from its work; `frames` are what all of them write, through an `outlet`.
`without_extra` takes their place where pygls is missing.
"""
