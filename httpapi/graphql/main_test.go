package graphql_test

import (
	"testing"

	"go.uber.org/goleak"
)

// The clock of the lexers' regexps ends by itself, a second behind the last use.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}
