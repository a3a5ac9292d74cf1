package service

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

func TestNotOwned(t *testing.T) {
	denied := fmt.Errorf("open store: %w", fs.ErrPermission)
	if err := notOwned(denied); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "as the account that the data directory belongs to") {
		t.Errorf("%v: got %v", denied, err)
	}
	if other := errors.New("no space"); notOwned(other) != other {
		t.Errorf("%v: got %v", other, notOwned(other))
	}
}
