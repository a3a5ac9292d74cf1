#!/bin/sh
# make.sh TRAWL OUT.zip ANSWERS
#
# Makes the fixture OUT.zip with the program TRAWL, built from the commit whose
# format it is to have, and writes to ANSWERS what that program answers. Needs
# git, zip and universal-ctags. Fixtures are made once; their programs are gone.
set -eu
trawl=$1 out=$(realpath -m "$2") answers=$(realpath -m "$3")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TZ=UTC HOME="$dir" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.org GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.org
n=0
commit() { # commit REPO MESSAGE
	n=$((n + 1))
	GIT_AUTHOR_DATE="2025-01-01T00:00:$(printf %02d $n)Z" GIT_COMMITTER_DATE="2025-01-01T00:00:$(printf %02d $n)Z"
	export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
	git -C "$1" add -A
	git -C "$1" commit -q -m "$2"
}
index() { "$trawl" index --data "$dir/data" "$@" >/dev/null 2>&1; }

cd "$dir"
for r in kiln glaze vault; do git init -q -b main $r; done
for i in 1 2 3 4 5 6 7 8; do
	printf 'package kiln\n\n// Fire_%d heats the KILN to cone %d.\nfunc Fire_%d(cone int) int { return cone + %d }\n\nconst MAX_CONE_%d = %d\n' \
		$i $i $i $i $i $((i * 7)) >kiln/fire$i.go
done
mkdir kiln/docs
printf 'How to fire a kiln.\nMutex_Lock and MUTEX_LOCK and mutex_lock.\n\304\260stanbul \305\277top \342\204\252iln\n' >kiln/docs/how.md
printf '\000\001binary' >kiln/logo.bin
commit kiln 'light the kiln'
printf '#define GLAZE_LOCK 1\nstruct glaze { int layers; };\nint glaze_lock(struct glaze *g) { return g->layers; }\n' >glaze/glaze.c
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "line %d of a Long_File with Word_%d\n", i, i * i % 97 }' >glaze/long.txt
commit glaze 'mix a glaze'
printf 'the Secret recipe of MUTEX_LOCK\n' >vault/recipe.txt
commit vault 'hide the recipe'
index kiln glaze vault

# A second branch: the fourth shard, so they are merged.
git -C glaze checkout -q -b wet
printf 'only on the Wet branch: WET_GLAZE\n' >glaze/wet.txt
commit glaze 'wet the glaze'
git -C glaze checkout -q main
"$trawl" repo set --data data glaze branches=wet stars=5 >/dev/null 2>&1
index glaze

# A second generation: another shard, and documents of the first are dead.
git -C kiln rm -q fire3.go
printf 'package kiln\n\n// Fire_4 was changed: FIRE_AGAIN.\nfunc Fire_4(cone int) int { return 2 * cone }\n' >kiln/fire4.go
commit kiln 'change how Fire_4 heats'
index kiln

"$trawl" user create --data data ann --admin --email ann@example.org >/dev/null 2>&1
"$trawl" user create --data data ci --service >/dev/null 2>&1
"$trawl" org create --data data lab >/dev/null 2>&1
"$trawl" org add --data data lab ann >/dev/null 2>&1
TRAWL_ACCESS_TOKEN_DAYS=30,never "$trawl" token create --data data ci --note fixture --days never >token 2>/dev/null
"$trawl" repo readers --data data vault org:lab >/dev/null 2>&1

ask() {
	printf '# %s\n' "$1" >>"$answers"
	"$trawl" search --data data -- "$1" 2>/dev/null | sed 's/, [^:]* ago:/:/' | sort >>"$answers" || true
}
: >"$answers"
ask 'mutex_lock count:all'
ask 'case:yes MUTEX_LOCK count:all'
ask 'case:yes Fire_4 count:all'
ask 'FIRE_AGAIN count:all'
ask 'patterntype:regexp Word_(3|5)\b file:long count:all'
ask 'repo:glaze@wet WET_GLAZE count:all'
ask 'type:path fire count:all'
ask 'type:symbol Fire_ count:all'
ask 'type:symbol case:yes glaze count:all'
ask 'type:commit glaze count:all'
ask 'type:diff FIRE_AGAIN count:all'
cp token data/token
rm -f data/index/LOCK "$out"
(cd data && zip -q -9 -r "$out" .)
