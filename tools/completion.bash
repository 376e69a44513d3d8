# bash completion for bigtable: verbs, options, tables of the database, and cbt's key=value.
_bigtable() {
  local verbs='createtable createfamily setgcpolicy ls deletetable deletefamily set addtocell
    deleterow deletecolumn deleteallrows droprowrange lookup read count import export stats tablets
    metadata split merge compact sst verify options'
  local word=${COMP_WORDS[COMP_CWORD]} verb='' words=0 i directory=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      -d | --directory)
        directory=(--directory "${COMP_WORDS[++i]}")
        ;;
      -*) ;;
      *)
        if [[ -z $verb ]]; then verb=${COMP_WORDS[i]}; else ((++words)); fi
        ;;
    esac
  done
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '--directory --json --escapes --quiet --help --resume
      --interval --count --prometheus --entries --row --verify' -- "$word")
    return
  fi
  case $verb:$words in
    :*)
      mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word")
      ;;
    sst:* | import:1 | export:1)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      ;;
    createtable:0 | stats:* | metadata:* | verify:* | options:*) ;;
    *:0)
      mapfile -t COMPREPLY < <(compgen -W "$(bigtable "${directory[@]}" ls 2> /dev/null)" -- "$word")
      ;;
    createtable:*)
      mapfile -t COMPREPLY < <(compgen -W 'families= splits=' -- "$word")
      compopt -o nospace 2> /dev/null
      ;;
    lookup:* | read:* | count:* | import:* | export:*)
      local keys
      case $verb in
        lookup) keys='columns= cells-per-column=' ;;
        read)
          keys='start= end= prefix= columns= cells-per-column= regex= value-regex= count= reversed=
            keys-only='
          ;;
        count) keys='start= end= prefix=' ;;
        import) keys='column-family= timestamp= batch-size= format=' ;;
        export) keys='start= end= prefix= columns= cells-per-column= timestamp= batch-size= format=' ;;
      esac
      mapfile -t COMPREPLY < <(compgen -W "$keys" -- "$word")
      compopt -o nospace 2> /dev/null
      ;;
  esac
  return 0
}
complete -F _bigtable bigtable
