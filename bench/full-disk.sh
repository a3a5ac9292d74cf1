#!/bin/sh
# Fills a small disk under a running server and makes room again. Needs root for
# the mount. Usage, in the folder of the source: make build && bench/full-disk.sh ./trawl
#
# It goes well if searches answer all the time, changes are refused while there
# is no room, and the same process indexes and takes changes afterwards.
set -eu
trawl=$(realpath "${1:?which binary of trawl?}")
work=$(mktemp -d)
disk=$work/disk data=$work/disk/data repo=$work/repo port=${PORT:-17099}
mkdir "$disk"
mount -t tmpfs -o size=128m tmpfs "$disk"
server=
end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	wait
	umount "$disk"
	rm -rf "$work"
}
trap end EXIT
say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*"; tail -5 "$work/log"; exit 1; }

change() {
	printf 'kept version %s\n' "$1" >"$repo/a.txt"
	git -C "$repo" add -A
	git -C "$repo" -c user.name=x -c user.email=x@localhost commit -qm "$1"
}
# found VERSION: the server answers, and with that version.
found() { "$trawl" search --data "$data" 'kept version' | grep -q "version $1\$"; }
# within SECONDS COMMAND...
within() {
	seconds=$1; shift
	while ! "$@"; do
		seconds=$((seconds - 1))
		[ "$seconds" -gt 0 ] || return 1
		sleep 1
	done
}
stopped() { "$trawl" status --data "$data" --json | grep -q '"stopped"'; }
goes_on() { ! stopped; }
fill() { dd if=/dev/zero of="$disk/filler" bs=1M count="$1" 2>/dev/null || true; }
free() { df -m --output=avail "$disk" | tail -1; }

git init -q -b main "$repo"
change 1
"$trawl" serve --data "$data" --listen "127.0.0.1:$port" --min-free-bytes 40MiB --sync-interval 1s "$repo" 2>"$work/log" &
server=$!
within 30 found 1 || fail "the repository is not found"

say "low: $(( $(free) - 30 )) MiB are taken"
fill $(( $(free) - 30 ))
within 15 stopped || fail "indexing goes on"
change 2
sleep 3
found 1 || fail "searching has stopped, or indexing has not"
"$trawl" user create low --data "$data" >/dev/null || fail "no user can be made with 30 MiB free"

say "full: all is taken"
fill 1000
found 1 || fail "searching has stopped"
if "$trawl" user create full --data "$data" >/dev/null 2>"$work/refused"; then fail "a user is made on a full disk"; fi
say "refused: $(cat "$work/refused")"
found 1 || fail "searching has stopped"

say "room again"
rm "$disk/filler"
within 20 goes_on || fail "indexing has not gone on"
within 20 found 2 || fail "the change is not found"
"$trawl" user create after --data "$data" >/dev/null || fail "no user can be made"
kill -0 "$server" || fail "the server has ended"
grep -c 'indexing has stopped' "$work/log" | grep -qx 1 || fail "it was not said once"
say "the same process searched all the time, refused changes, and went on by itself"
