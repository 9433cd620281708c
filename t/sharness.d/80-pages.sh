# SPDX-License-Identifier: LGPL-3.0-only
# For tests that follow a page of doc/. Sourced by sharness. PAGE: the page. FOLDER, if it is set: in place of
# /etc/flux/system.

# block NAME: the block of the page behind <!-- NAME -->.
block() {
	awk -v mark="<!-- $1 -->" '$0 == mark { due = 1; next } due && /^```/ { if (inside) exit; inside = 1; next } inside' "$PAGE" |
		sed "s|/etc/flux/system|${FOLDER:-/etc/flux/system}|g" >block.out && test -s block.out && cat block.out
}

# follow_in_flux PAGE: the page is followed in a copy of a Flux prefix, mounted in its place. Skips where that cannot be.
follow_in_flux() {
	FLUX=$(find_flux) || { skip_all='no stock Flux here that can load this build: put flux into PATH or set WEIR_FLUX'; test_done; }
	finds_modprobe_files "$FLUX" || { skip_all='this Flux is too old to load modules of Weir by itself'; test_done; }
	unshare --mount true 2>/dev/null || { skip_all='only root may mount the copy in place of the prefix'; test_done; }
	PREFIX=$(dirname "$(dirname "$(readlink -f "$FLUX")")")
	PAGE=$SHARNESS_TEST_SRCDIR/../doc/$1
	FOLDER=$PREFIX/etc/flux/system
	export PREFIX PAGE FOLDER
}

# copy_prefix: the copy, with Weir's modules and no configuration.
copy_prefix() {
	cp -a "$PREFIX" copy && cmake --install "$WEIR_BUILD_DIR" --prefix "$PWD/copy" --component modules >install.log &&
		mkdir -p copy/etc/flux/system/conf.d && rm -f copy/etc/flux/system/conf.d/*.toml
}

# inside SCRIPT: an instance of the copy, as the page configures it, of $SIZE brokers, else of one.
inside() {
	cat >mounted.sh <<-EOF
	mount --bind "$PWD/copy" "$PREFIX" &&
	exec env -u FLUX_URI PATH="$PREFIX/bin:\$PATH" XDG_CONFIG_DIRS="$PREFIX/etc/xdg" \
		flux start --test-size=${SIZE:-1} --config-path="$FOLDER/conf.d" bash -e "$PWD/$1"
	EOF
	unshare --mount bash mounted.sh
}
