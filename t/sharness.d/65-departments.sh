# SPDX-License-Identifier: LGPL-3.0-only
# For tests of what shows shares: a tree of departments with a user in each, for start_weir. Sourced by sharness.

# write_departments [LINE...]: shares.toml and weir.toml of two departments; each LINE is a further one of [weir].
write_departments() {
	cat >shares.toml <<-EOF
	"physics" = 60
	"physics/lattice" = 2
	"physics/lattice/@alice" = 1
	"physics/astro" = 1
	"physics/astro/@bob" = 1
	"chem" = 40
	"chem/@carol" = 1
	EOF
	{
		printf '[weir]\ndecay = "none"\n' && printf '%s\n' "$@" &&
			printf '[weir.users]\nalice = 5001\nbob = 5002\ncarol = 5003\n'
	} >weir.toml
}

# add_departments: to these a user who has no jobs, and a department without users.
add_departments() {
	printf '"physics/lattice/@erin" = 1\n"bio" = 10\n' >>shares.toml && printf 'erin = 5004\n' >>weir.toml
}

# ended JOB: returns when it has ended; a simulated job has no output.
ended() {
	weir output --wait "$1" 2>/dev/null || weir jobs -a | grep "$1 .*\(completed\|canceled\)"
}
