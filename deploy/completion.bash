# Completion for ttl-sidecar and ttl-postgres; ttlctl prints its own. It reads the options and
# subcommands from the program's own --help.

# __ttl_subcommands: the subcommands in the help text of the standard input.
__ttl_subcommands() {
  sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\).*/\1/p'
}

_ttl() {
  local program=$1 current=$2 word help line=()
  # The subcommands typed so far, each checked against the help before it.
  help=$("$program" --help 2>/dev/null) || return
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if __ttl_subcommands <<<"$help" | grep -qxF -- "$word"; then
      line+=("$word")
      help=$("$program" "${line[@]}" --help 2>/dev/null) || return
    fi
  done
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -- '(^|[ ,])--[a-z][a-z-]*' <<<"$help" | grep -oE -- '--[a-z-]+')" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$(__ttl_subcommands <<<"$help")" -- "$current")
  fi
}
complete -o default -F _ttl ttl-sidecar ttl-postgres
