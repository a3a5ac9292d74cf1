package git

import (
	"context"
	"strings"
)

// Version returns the version of the git that is run, such as "2.39.5".
func Version(ctx context.Context) (string, error) {
	var alone *Budget
	said, err := alone.output(ctx, command(ctx, noTransport, "version"), "version")
	return strings.TrimPrefix(said, "git version "), err
}
