# Completion of miltext in fish 3.1 or later; `miltext completion fish` writes it.

function __miltext_complete
    set -l last (commandline -ct)
    # Words with variables are left to fish.
    if string match -q -- '*$*' $last
        set -l option (string match -r '^--[a-z-]+=' -- $last; or echo '')
        for word in (complete -C "'' "(string replace -- "$option" '' $last))
            printf '%s\n' $option$word
        end
        return
    end
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    type -q -- $program; or set program miltext
    set -lx _MILTEXT_COMPLETE fish_complete
    $program $words $last 2>/dev/null
end

complete -c miltext -f -a '(__miltext_complete)'
