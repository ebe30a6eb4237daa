#include "client/ttlctl/definition/completion_script.h"

namespace ttl {
namespace {

constexpr absl::string_view kBash =
    R"script(# Completion of ttlctl for bash, from: ttlctl completion bash
# Sets plain to what the shell makes of the word $1, whose quotes may still be open.
_ttlctl_unquote() {
  local rest=$1
  plain=
  while [[ -n $rest ]]; do
    case $rest in
      \\?*) plain+=${rest:1:1} rest=${rest:2} ;;
      [\"\']*) rest=${rest:1} ;;
      *) plain+=${rest:0:1} rest=${rest:1} ;;
    esac
  done
}
_ttlctl() {
  local words=() lines=() word plain current before is_quoted i
  # bash breaks words at = and : too.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i > 1)) && [[ $word == [=:]* || ${COMP_WORDS[i - 1]} == [=:] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  is_quoted=
  [[ ${words[-1]} != [\"\']* ]] || is_quoted=yes
  for i in "${!words[@]}"; do
    _ttlctl_unquote "${words[i]}"
    words[i]=$plain
  done
  mapfile -t lines < <("$1" __complete "${words[@]}" 2>/dev/null)
  COMPREPLY=()
  if [[ ${lines[0]-} == :files ]]; then
    compopt -o default
    return
  fi
  current=${words[-1]}
  before=${current%"${current##*[=:]}"}
  for word in "${lines[@]}"; do
    word=${word%%$'\t'*}
    word=${word#"$before"}
    # bash closes a quote that is open.
    [[ -n $is_quoted ]] || printf -v word %q "$word"
    COMPREPLY+=("$word")
  done
}
complete -F _ttlctl ttlctl
)script";

constexpr absl::string_view kZsh = R"script(#compdef ttlctl
# Completion of ttlctl for zsh, from: ttlctl completion zsh
_ttlctl() {
  local -a lines choices
  local line word
  lines=("${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $lines[1] == :files ]]; then
    _files
    return
  fi
  for line in $lines; do
    word=${line%%$'\t'*}
    choices+=("${word//:/\\:}:${line#*$'\t'}")
  done
  _describe -t choices choice choices
}
if [[ $funcstack[1] == _ttlctl ]]; then
  _ttlctl "$@"
else
  compdef _ttlctl ttlctl
fi
)script";

constexpr absl::string_view kFish =
    R"script(# Completion of ttlctl for fish, from: ttlctl completion fish
function __ttlctl_complete
    set -l words (commandline -opc)
    set -l typed "$(commandline -ct | string unescape)"
    set -l lines ($words[1] __complete $words[2..-1] "$typed" 2>/dev/null)
    if test "$lines[1]" = :files
        __fish_complete_path "$(commandline -ct)"
    else if set -q lines[1]
        printf '%s\n' $lines
    end
end
complete -c ttlctl -f -a '(__ttlctl_complete)'
)script";

}  // namespace

absl::string_view CompletionScript(absl::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return "";
}

}  // namespace ttl
