# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for memstate(1). It gets commands, options, kinds of arguments and columns
# from the program itself, so that no second list needs maintenance.

# Print the options of a command: name, kind of argument ("-" for none) and description.
function __memstate_options
    # $argv: the program and the words of the command
    $argv[1] help -a $argv[2..-1] 2>/dev/null |
        string replace -rf '^ {2,6}(?:(-.), )?(--[a-z-]+)(?:\[=[A-Z]+\])?(?: ([^ ]+))?(?: {2,}(.*))?$' '$1 $2 $3\t$4'
end

# Print the commands, with a tab before the description.
function __memstate_commands
    $argv[1] help 2>/dev/null | string replace -rf '^  ([a-z]+(?: [a-z]+)?)  +(.*)$' '$1\t$2'
end

# Complete the last part of a comma-separated list. $argv[1]: the list so far.
function __memstate_list
    set -l before (string match -r '^[+-]|^\+?.*,' -- $argv[1])
    for word in $argv[2..-1]
        echo "$before[1]$word"
    end
end

function __memstate_argument
    set -l kind $argv[1]
    set -l current $argv[2]
    set -l command $argv[3..-1]
    switch $kind
        case 'PID*'
            __memstate_list "$current" (string match -r '[0-9]+$' -- /proc/[0-9]*) \
                (cat /proc/[0-9]*/comm 2>/dev/null | string match -r '^[A-Za-z0-9_.+@-]+$' | sort -u)
        case '*COL*'
            __memstate_list "$current" ($command --list-columns 2>/dev/null | string replace -r ' .*' '')
        case FILE SCRIPT
            __fish_complete_path "$current"
        case DIR
            __fish_complete_directories "$current"
        case '*|*'
            string match -rq '^[a-z|]+$' -- $kind; and string split '|' -- $kind
    end
end

# Print the candidates for the current word.
function __memstate_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -l commands (__memstate_commands $program | string replace -r '\t.*' '')
    set -l verb
    for word in $words[2..3]
        contains -- (string join ' ' -- $verb $word) $commands; or break
        set -a verb $word
    end

    if set -l at (contains -i -- -- $words)
        # after "--" follows the command line of another program
        complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]) $current)
        return
    end
    for line in (__memstate_options $program $verb)
        set -l names (string split ' ' -- (string replace -r '\t.*' '' -- $line))
        if test -n "$names[3]"; and contains -- $words[-1] $names[1] $names[2]
            __memstate_argument $names[3] "$current" $program $verb
            return
        end
        string match -q -- '-*' $current; or continue
        set -l description (string replace -r '^[^\t]*\t?' '' -- $line)
        for name in $names[1..2]
            test -n "$name"; and printf '%s\t%s\n' $name $description
        end
    end
    string match -q -- '-*' $current; and return
    # the next words of the commands that begin with those typed
    if test (count $words) -eq (math 1 + (count $verb))
        for line in (__memstate_commands $program)
            set -l rest (string replace -r "^$verb ?" '' -- $line)
            test "$rest" != "$line" -o -z "$verb"; and string match -rq '^[a-z]+\t' -- $rest
            and echo $rest
        end
    end
    contains -- "$verb" capture diff; and __fish_complete_path "$current"
end

complete -c memstate -f -a '(__memstate_complete)'
