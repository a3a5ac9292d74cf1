package runs

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/store/shard"
)

// folder holds all objects of this package.
const folder = "shards"

// Name returns where a run is.
func Name(f shard.File) string {
	return fmt.Sprintf("%s/%d-%v-%x", folder, f.Shard, f.Part, f.SHA256)
}

// Parse returns the run that a name is of, without its size, which no name says.
func Parse(name string) (f shard.File, ok bool) {
	rest, ok := strings.CutPrefix(name, folder+"/")
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return shard.File{}, false
	}
	number, err := strconv.ParseUint(parts[0], 10, 32)
	sum, serr := hex.DecodeString(parts[2])
	if err != nil || serr != nil || len(sum) != len(f.SHA256) {
		return shard.File{}, false
	}
	f.Shard = uint32(number)
	copy(f.SHA256[:], sum)
	for _, f.Part = range []shard.Part{shard.PartText, shard.PartSymbols} {
		if Name(f) == name {
			return f, true
		}
	}
	return shard.File{}, false
}
