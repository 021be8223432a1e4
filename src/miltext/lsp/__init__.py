"""The language server: MIL text as an editor asks about it.

`positions` and `trees` are where things stand, `scopes` what the names mean, `reading` all that is read of one text.
`documents` keeps the open files; each further module answers one kind of request, as a function of a `View`; `requests`
is the table of them. `server` is the only module that speaks the protocol: pygls moves the messages, and the work is
done in threads, so that a long check holds nothing else up. `without_extra` takes its place where pygls is missing.
"""
