package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// killFound are versions by name of the repository and the word before it.
type killFound map[[2]string][]int

// versions searches for every file of every version.
func (c *operatorClient) versions(ctx context.Context, token string) (killFound, error) {
	a := &asker{client: c.client, base: c.base, token: token}
	out := killFound{}
	answer, err := a.search(ctx, `/^kept(first|second) .*$/ count:all`, "standard", func(data []byte) error {
		var matches []wireMatch
		if err := json.Unmarshal(data, &matches); err != nil {
			return err
		}
		for _, m := range matches {
			for _, chunk := range m.ChunkMatches {
				for line := range strings.Lines(chunk.Content) {
					if err := out.add(m.Repository, line); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, why := range answer.Incomplete {
		waiting := strings.HasPrefix(why, "repository-cloning:") || strings.HasPrefix(why, "repository-indexing:")
		if !waiting { // those are that were just added
			return nil, fmt.Errorf("%w: the answer is incomplete: %s", errRefused, why)
		}
	}
	return out, nil
}

func (f killFound) add(repository, line string) error {
	var word, name string
	var version int
	if n, _ := fmt.Sscanf(line, "%s %s %d", &word, &name, &version); n != 3 || name != repository {
		return fmt.Errorf("%w: %s is found with the line %q", errRefused, repository, line)
	}
	f[[2]string{repository, word}] = append(f[[2]string{repository, word}], version)
	return nil
}
