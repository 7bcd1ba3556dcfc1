#!/bin/sh
# An agent in a shell script: one plain request for each call, no handshake, no library.
set -eu
title=$(sed -n 's/^Lend \(.*\) to .*/\1/p')
reader=${MCPTEST_PROMPT##* to }
reader=${reader%.}

call() { # call TOOL ARGUMENTS prints the text of the result
    curl --silent --fail --header 'Content-Type: application/json' "$MCPTEST_SERVER_LIBRARY_URL" --data "{
        \"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\",
        \"params\": {\"name\": \"$1\", \"arguments\": $2}
    }" | sed -n 's/.*"text":"\([^"]*\)".*/\1/p'
}

found=$(call find_book "{\"title\": \"$title\"}")
case $found in
*'on the shelf'*) echo "Done: $(call lend_book "{\"title\": \"$title\", \"reader\": \"$reader\"}")." ;;
*) echo "Sorry: ${found:-the library does not answer}." ;;
esac
