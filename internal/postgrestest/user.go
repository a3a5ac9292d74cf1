//go:build unix

package postgrestest

import (
	"fmt"
	"os/user"
	"strconv"
	"syscall"
)

// otherUser returns who runs servers for root: the user whom PostgreSQL's package
// makes, or else the one who owns nothing.
func otherUser() (*syscall.Credential, error) {
	found, err := user.Lookup("postgres")
	if err != nil {
		found, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("postgres does not serve as root: %w", err)
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}
