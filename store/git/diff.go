package git

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
)

// Change is how one path differs between two commits.
type Change struct {
	Status           byte   // A added, D deleted, M content or mode changed, T kind of file changed
	OldMode, NewMode uint32 // 0 where the path does not exist
	OldOID, NewOID   string // "" where the path does not exist
	Path             string // bytes as git stores them
}

// readChange reads ":100644 100755 <oid> <oid> M" NUL <path> NUL.
func readChange(out *bufio.Reader) (Change, error) {
	record, err := field(out)
	if err != nil {
		return Change{}, err
	}
	change, err := parseChange(record)
	if err != nil {
		return Change{}, err
	}
	path, err := field(out)
	if err != nil || len(path) == 0 {
		return Change{}, errTruncated
	}
	change.Path = string(path)
	return change, nil
}

func parseChange(record []byte) (Change, error) {
	text, ok := bytes.CutPrefix(record, []byte(":"))
	parts := bytes.Split(text, []byte(" "))
	if !ok || len(parts) != 5 || len(parts[4]) == 0 {
		return Change{}, badRecord(record)
	}
	oldMode, err1 := strconv.ParseUint(string(parts[0]), 8, 32)
	newMode, err2 := strconv.ParseUint(string(parts[1]), 8, 32)
	oldOID, newOID := string(parts[2]), string(parts[3])
	if err1 != nil || err2 != nil || !isObjectID(oldOID) || !isObjectID(newOID) {
		return Change{}, badRecord(record)
	}
	return Change{
		Status:  parts[4][0],
		OldMode: uint32(oldMode), NewMode: uint32(newMode),
		OldOID: presentOID(oldOID), NewOID: presentOID(newOID),
	}, nil
}

// presentOID turns the id of all zeros, git's word for none, into "".
func presentOID(oid string) string {
	if strings.Trim(oid, "0") == "" {
		return ""
	}
	return oid
}
