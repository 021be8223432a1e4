#compdef miltext
# Completion of miltext in zsh 5.3 or later; `miltext completion zsh` writes it.

_miltext() {
    local -a lines described plain parts
    local line kind value help
    lines=("${(@f)$(
        _MILTEXT_COMPLETE=zsh_complete "${words[1]/#\~\//$HOME/}" "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null
    )}")
    for line in ${lines:#}; do
        kind=${line%%$'\t'*} line=${line#*$'\t'}
        value=${line%%$'\t'*} help=${line#*$'\t'}
        case $kind in
            files)
                compset -p $value
                if [[ -n $help ]]; then
                    _alternative "files:file:_path_files -g ${(q)help}" 'folders:folder:_path_files -/'
                else
                    _path_files -/
                fi
                return
                ;;
            part) parts+=("$value") ;;
            *) if [[ -n $help ]]; then described+=("${value//:/\\:}:$help"); else plain+=("$value"); fi ;;
        esac
    done
    # `mil60` becomes MIL604, too
    (( $#described )) && _describe -t values value described -M 'm:{a-z}={A-Z}'
    (( $#plain )) && compadd -M 'm:{a-z}={A-Z}' -- $plain
    (( $#parts )) && compadd -S '' -- $parts
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _miltext "$@"
else
    compdef _miltext miltext
fi
