//go:build !linux

package bench

import "errors"

// holdToShare needs control groups, which other systems do not have.
func holdToShare(string, int, float64) (remove func() error, err error) {
	return nil, errors.New("control groups are Linux's")
}
