package graphql_test

import (
	"testing"

	"github.com/trawlsearch/trawl/query/syntax"
)

// TestPatternTypesAreThoseOfTheStream reads every value of the enum as the
// stream reads its parameter t.
func TestPatternTypesAreThoseOfTheStream(t *testing.T) {
	for _, v := range loadSchema(t).Types["SearchPatternType"].EnumValues {
		if _, err := syntax.ParsePatternType("", v.Name); err != nil {
			t.Errorf("pattern type %s: %v", v.Name, err)
		}
	}
}
