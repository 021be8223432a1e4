# Completion of miltext in bash 4.4 or later; `miltext completion bash` writes it.

_miltext() {
    local kind value help
    COMPREPLY=()
    # Words with variables are left to bash.
    if [[ ${COMP_WORDS[COMP_CWORD]} == *[\$\`]* ]]; then
        compopt -o bashdefault -o default
        return
    fi
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            '') continue ;;
            file) compopt -o filenames ;;
            folder) compopt -o filenames; value=${value%/} ;; # bash adds it
            *)
                [[ $kind == part ]] && compopt -o nospace
                [[ $value == *[!a-zA-Z0-9_@%+=:,./-]* ]] && printf -v value %q "$value"
                ;;
        esac
        COMPREPLY+=("$value")
    done < <(
        _MILTEXT_COMPLETE=bash_complete "${1/#\~\//$HOME/}" \
            "${COMP_LINE:0:COMP_POINT}" "${COMP_WORDS[COMP_CWORD]}" 2>/dev/null
    )
}

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
    complete -o nosort -F _miltext miltext
else
    echo "miltext: completion needs bash 4.4 or later, and this is $BASH_VERSION" >&2
fi
