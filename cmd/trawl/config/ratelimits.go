package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
)

// rateLimitsKey is the key of the limits of GraphQL requests, as site
// configurations of this API have it.
const rateLimitsKey = "rateLimits"

// rateLimit is where a limit is kept; nil is a name that is none. Two spellings
// of the names are in use, so case does not count.
func rateLimit(l *cost.Limits, name string) *int {
	for _, k := range l.Keyed() {
		if strings.EqualFold(k.Key, name) {
			return k.Limit
		}
	}
	return nil
}

// rateLimitNames are the names of all limits.
func rateLimitNames() []string {
	var names []string
	for _, k := range (&cost.Limits{}).Keyed() {
		names = append(names, k.Key)
	}
	return names
}

// rateLimits reads the limits.
func (f *File) rateLimits(n *yaml.Node) error {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return f.errorAt(n.Line, "%s: expected keys with values, such as %s: 500", rateLimitsKey, rateLimitNames()[0])
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := resolve(n.Content[i]), resolve(n.Content[i+1])
		limit := rateLimit(&f.RateLimits, key.Value)
		if limit == nil {
			return f.unknown(key.Line, key.Value, rateLimitNames())
		}
		if *limit != 0 {
			return f.errorAt(key.Line, "%s: %s stands here twice", rateLimitsKey, key.Value)
		}
		text, err := f.scalar(key.Value, value)
		if err != nil {
			return err
		}
		if *limit, err = parseLimit(text); err != nil {
			return f.errorAt(value.Line, "%s: %v", key.Value, err)
		}
	}
	return nil
}

func parseLimit(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1<<31-1 {
		return 0, fmt.Errorf("%q is no limit: give a whole number of at least 1", text)
	}
	return n, nil
}
