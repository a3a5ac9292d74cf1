package wire

import (
	"fmt"

	"github.com/trawlsearch/trawl/store/redact"
)

// Refusal is an error that clients are told.
type Refusal struct{ Message string }

func (e *Refusal) Error() string { return e.Message }

// Refuse returns a *Refusal.
func Refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// Permit makes a refusal an error that the user may read.
func Permit(err error) error {
	if err == nil {
		return nil
	}
	return &Refusal{redact.Text(err.Error())}
}
