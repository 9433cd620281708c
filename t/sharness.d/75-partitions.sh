# SPDX-License-Identifier: LGPL-3.0-only
# Partitions that the instance keeps, and jobs in them that wait for a word of the test.

# partition NAME FILTER: waits until what job-route tells of that partition fulfills the jq filter
partition() {
	wait_until job-route.partitions "{}" ".partitions[] | select(.name == \"$1\") | $2" >/dev/null
}

# are_up NAME...: each of these partitions serves its queues
are_up() {
	for name in "$@"; do partition $name 'select(.state == "up")' || return 1; done
}

# is_alone NAME: the partition serves with one instance, and none of before is draining
is_alone() {
	partition "$1" 'select(.state == "up" and (.instances | length == 1))'
}

# job_of NAME: the job that is the partition's present instance
job_of() {
	call job-route.partitions | jq -r ".partitions[] | select(.name == \"$1\") | .instances[] | select(.role == \"current\").job"
}

# load_route_again [URI]: as an upgrade does
load_route_again() (
	FLUX_URI=${1:-$FLUX_URI} && call module.remove "{\"name\":\"job-route\"}" && call module.load "{\"path\":\"job-route\",\"args\":[]}"
)

# gated NAME WORDS...: a job that writes NAME into `ran` and ends when its gate is opened; $NAME is its id
gated() {
	name=$1 && shift && mkfifo $name.gate &&
		id=$(weir submit --json "$@" sh -c "echo $name >>\"$(pwd)/ran\"; read line <\"$(pwd)/$name.gate\"" | jq .id) && eval "$name=$id"
}

# open_gate NAME: lets that job end
open_gate() {
	echo go >"$1.gate"
}

# end NAME: opens its gate, and returns when it has ended well
end() {
	open_gate $1 && eval "id=\$$1" && ended_well $id
}

# ended_well ID: returns when the job has ended, and whether with status 0
ended_well() {
	wait_event $1 finish | jq -e ".status == 0" >/dev/null && wait_event $1 clean
}

# child_of ID: the partition that has the job, as a job of this instance; 0: none
child_of() {
	call job-route.locate "{\"id\":$1}" | jq .child
}

# is_pending ID: the scheduler has the job, which has had no cores in this life of the instance nor in those before
is_pending() {
	wait_until sched.why "{\"id\":$1}" ".place > 0" >/dev/null &&
		call job-info.lookup "{\"id\":$1,\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog | jq -s -r ".[].name" >events &&
		cat events && ! grep "^alloc\|^exception" events
}
