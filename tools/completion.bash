# bash completion for bigtable: verbs, options, tables of the database, and cbt's key=value.
_bigtable() {
  local verbs='createtable createfamily setgcpolicy ls deletetable deletefamily set addtocell
    deleterow deletecolumn deleteallrows droprowrange lookup read count changestream changes import ingest export
    tablets metadata split merge move stats compact resume checkpoint backup backups restore restoretable follow promote repair sst verify log options'
  local word=${COMP_WORDS[COMP_CWORD]} verb='' words=0 i place=() server=$BIGTABLE_SERVER
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      # With the value that follows: what `bigtable ls` needs to find the same database.
      -d | --directory | -s | --server | --project | --instance | --app-profile | \
        --root-certificates | --client-certificate | --client-key | --token-file | --plugin)
        case ${COMP_WORDS[i]} in
          -d | --directory) server='' ;;
          -s | --server) server=${COMP_WORDS[i + 1]} ;;
        esac
        place+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}")
        # The line editor cuts words at colons: HOST : PORT.
        if [[ ${COMP_WORDS[i + 2]} == : ]]; then
          place[-1]+=:${COMP_WORDS[i + 3]}
          ((i += 2))
        fi
        ((++i))
        ;;
      --tls | --plaintext | --google)
        place+=("${COMP_WORDS[i]}")
        ;;
      --retry-for | --resume | --interval | --count | --row | --description | --verify | --delete | --keep | --keep-for | --target | --max-bytes | --since | --position | --limit | --every | --tables)
        ((++i))
        ;;
      -*) ;;
      *)
        if [[ -z $verb ]]; then verb=${COMP_WORDS[i]}; else ((++words)); fi
        ;;
    esac
  done
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '--help --version --directory --plugin --json --escapes --quiet
      --server --project --instance --app-profile --tls --root-certificates --client-certificate
      --client-key --token-file --plaintext --google --retry-for --resume --interval --count
      --prometheus --entries --row --verify --description --delete --keep --keep-for --expired --target --oldest --move --trust --max-bytes --since --follow --position --limit --every --once --tables --no-fence' -- "$word")
    return
  fi
  case ${COMP_WORDS[COMP_CWORD - 1]} in
    -d | --directory | --plugin | --root-certificates | --client-certificate | --client-key | --token-file | \
      --resume | --target | --position)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
      ;;
    -s | --server | --project | --instance | --app-profile | --retry-for | --interval | --count | \
      --row | --max-bytes | --since | --limit | --every | --tables)
      return
      ;;
  esac
  case $verb:$words in
    :*)
      mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word")
      ;;
    follow:[01] | promote:[01])
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      ;;
    sst:* | ingest:[1-9]* | import:1 | export:1)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      ;;
    createtable:0 | stats:* | resume:* | metadata:* | verify:* | repair:* | options:*) ;;
    *:0)
      # A person waits: not long for a server that is not there.
      [[ -n $server || " ${place[*]} " == *' --google '* ]] && place+=(--retry-for 1s)
      # compgen expands its words, and these come from elsewhere.
      mapfile -t COMPREPLY < <(compgen -W "$(bigtable "${place[@]}" ls 2> /dev/null |
        grep -xE '[A-Za-z0-9_.-]+')" -- "$word")
      ;;
    createtable:*)
      mapfile -t COMPREPLY < <(compgen -W 'families= splits=' -- "$word")
      compopt -o nospace 2> /dev/null
      ;;
    lookup:* | read:* | count:* | changes:* | import:* | export:*)
      local keys
      case $verb in
        lookup) keys='columns= cells-per-column=' ;;
        read)
          keys='start= end= prefix= columns= cells-per-column= regex= value-regex= count= reversed=
            keys-only='
          ;;
        count | changes) keys='start= end= prefix=' ;;
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
