# A server of the Model Context Protocol for tests: sh alone, one line a message, answers by rote.
# sh server.sh KIND; what a kind does differently stands in the branches below.
kind=$1
say() { printf '%s\n' "$*"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
text() { answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
tool() { printf '{"name":"%s","description":"Does %s.","inputSchema":{"type":"object","properties":{}}}' "$1" "$1"; }
# What was heard, as plain text.
recall() { text "$(say "$said" | tr -d '"\\{}')"; }
changed=no said= asking=

case $kind in
    dies) echo 'no licence found' >&2; exit 3 ;;
    silent) while read -r line; do :; done; exit 0 ;;
    chatty) say 'Starting up...'; say '<html>' ;;
esac

while read -r line; do
    id=${line#*\"id\":}; id=${id%%[,\}]*}
    case $line in
        *'"method":"initialize"'*)
            answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"by rote","version":"1"}}' ;;
        *'"method":"notifications/initialized"'*)
            if [ "$kind" = roots ]; then say '{"jsonrpc":"2.0","id":0,"method":"roots/list"}'; fi ;;
        *'"method":"notifications/cancelled"'*) said=$line ;;
        *'"roots":'*)
            said=$line
            if [ -n "$asking" ]; then id=$asking; recall; fi ;;
        *'"method":"tools/list"'*)
            case $kind in
                odd) answer "{\"tools\":[$(tool a.b),$(tool a_b),$(tool 'a b')]}" ;;
                pages)
                    case $line in
                        *'"cursor":"two"'*) answer "{\"tools\":[$(tool second)]}" ;;
                        *) answer "{\"tools\":[$(tool first)],\"nextCursor\":\"two\"}" ;;
                    esac ;;
                changing)
                    if [ $changed = yes ]; then answer "{\"tools\":[$(tool change),$(tool new)]}"; else answer "{\"tools\":[$(tool change)]}"; fi ;;
                *) answer "{\"tools\":[$(tool echo),$(tool fail),$(tool die),$(tool hang),$(tool huge),$(tool deep),$(tool env),$(tool refuse),$(tool recall),$(tool hold)]}" ;;
            esac ;;
        *'"method":"tools/call"'*)
            case $line in
                *'"name":"echo"'*) text "$kind heard it" ;;
                *'"name":"fail"'*) answer '{"isError":true,"content":[{"type":"text","text":"no such thing"}]}' ;;
                *'"name":"refuse"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32602,\"message\":\"not like this\"}}" ;;
                *'"name":"die"'*) echo 'out of memory' >&2; exit 9 ;;
                *'"name":"huge"'*) head -c 20000000 /dev/zero | tr '\0' x; say ;;
                *'"name":"deep"'*) text "$(head -c 200 /dev/zero | tr '\0' '[')" | sed 's/"\[/[/; s/\["/[/' ;;
                *'"name":"env"'*) text "$(env | cut -d= -f1 | sort | tr '\n' ' ') token=$TOKEN in $(pwd)" ;;
                *'"name":"hang"'*)
                    token=${line#*\"progressToken\":}; token=${token%%[,\}]*}
                    say "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$token,\"progress\":1,\"total\":2,\"message\":\"half\"}}" ;;
                *'"name":"recall"'*)
                    # The answer about roots may come later than this.
                    if [ "$kind$said" = roots ]; then asking=$id; else recall; fi ;;
                *'"name":"hold"'*)
                    trap '' TERM
                    mkfifo alive
                    text holding
                    # Waits until somebody reads, and keeps it open as long as it or its child is there.
                    exec 3>alive
                    sleep 1000 & ;;
                *'"name":"change"'*) changed=yes; text ok; say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' ;;
                *) text 'something else' ;;
            esac ;;
    esac
done

# Some do not end with their input.
if [ "$kind" = stubborn ]; then while :; do sleep 1000; done; fi
