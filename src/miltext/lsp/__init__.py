"""The language server: MIL text for editors.

`positions` and `trees` contain places, `scopes` the meanings of names, `reading` all facts read from one text.
`documents` keeps the open files, and `client` reports the abilities of the client. `completion`, `diagnosing`,
`folding`, `formatting`, `hover`, `naming`, `semantic_tokens` and `symbols` answer requests; they get facts from
`context`, `operations` and `weights`. `requests` is the table of the requests that a function of a `View` answers.
`server` is the only module that speaks the protocol: pygls moves the messages, and the work is done in threads, so that
a long check blocks nothing else. The editor starts `guarding`, which passes messages on to `workers`, processes with a
server each, and moves documents between these when a text blocks one; `frames` are the bytes that all of them write,
through an `outlet`. `without_extra` takes their place if pygls is missing.
"""
