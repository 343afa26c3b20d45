#!/bin/sh
# Publish tonight's top ten as JSON: for cron, and for every scheduler that runs a command and reads its exit code.
#
#     examples/nightly.sh orders.csv ledger.db top.json [NIGHT]
#
# The data set must have a budget (podium budget create). NIGHT is the version of the data, by default today in UTC, so
# a second run in the same night repeats the list and costs nothing. A reader of the output sees the old list or the new
# one, never a part of it. The exit code is podium's: 0 the list was replaced, 3 the budget does not allow another one,
# anything else is a failure. Unless it is 0 the old list stays. On success nothing is printed.
set -eu
source=$1
ledger=$2
output=$3
night=${4:-$(date -u +%Y-%m-%d)}
podium budget data-version orders "$night" --ledger "$ledger" --quiet >/dev/null
exec podium top "$source" --item product --user customer -k 10 \
    --ledger "$ledger" --dataset orders --output "$output" --force --quiet
