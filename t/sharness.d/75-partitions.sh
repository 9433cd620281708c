# SPDX-License-Identifier: LGPL-3.0-only
# Partitions that the instance keeps, and jobs in them that wait for a word of the test.

# partition NAME FILTER: waits until what job-route tells of that partition fulfills the jq filter
partition() {
	wait_until job-route.partitions "{}" ".partitions[] | select(.name == \"$1\") | $2" >/dev/null
}

# gated NAME WORDS...: a job that writes NAME into `ran` and ends when its gate is opened; $NAME is its id
gated() {
	name=$1 && shift && mkfifo $name.gate &&
		id=$(weir submit --json "$@" sh -c "echo $name >>\"$(pwd)/ran\"; read line <\"$(pwd)/$name.gate\"" | jq .id) && eval "$name=$id"
}

# open_gate NAME: lets that job end
open_gate() {
	echo go >"$1.gate"
}

# ended_well ID: returns when the job has ended, and whether with status 0
ended_well() {
	wait_event $1 finish | jq -e ".status == 0" >/dev/null && wait_event $1 clean
}

# child_of ID: the partition that has the job, as a job of this instance; 0: none
child_of() {
	call job-route.locate "{\"id\":$1}" | jq .child
}
