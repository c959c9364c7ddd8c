# offered.sh COMPLETION WORD...: prints what bash offers in place of the last word.
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { :; } # sets how readline shows an offer, which there is none of here
"$(complete -p "$1" | sed 's/.* -F \([^ ]*\) .*/\1/')"
printf '%s\n' "${COMPREPLY[@]}"
