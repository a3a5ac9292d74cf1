package shard

import (
	"bytes"
	"testing"
)

func FuzzCommits(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 1, 'a', 1, 'b', 1, 'x', 7, 0, 0, 2, 0, 0, 4, 1, 8, 1, 2, 3, 2, 'M', 0, 'R', 1, 'o'})
	f.Fuzz(func(t *testing.T, page []byte) {
		again, n, err := recodeCommits(page)
		if err != nil || n == 0 {
			return
		}
		twice, m, err := recodeCommits(again)
		if err != nil || n != m || !bytes.Equal(again, twice) {
			t.Errorf("%d commits become %d, %v\n%x\n%x", n, m, err, again, twice)
		}
	})
}

// recodeCommits returns a commit table of one page, as it
// is encoded again.
func recodeCommits(page []byte) (again []byte, commits int, err error) {
	c := newCommits()
	if err := c.addPage(page); err != nil {
		return nil, 0, err
	}
	var rows []commitRow
	for i := range c.Len() {
		row := commitRow{Commit: c.At(i)}
		for d := c.Message[i] + 1; d < c.Message[i+1]; d++ {
			row.files = append(row.files, fileRow{c.Status[d], c.OldPath(int(d))})
		}
		rows = append(rows, row)
	}
	return encodeCommitPage(rows), c.Len(), nil
}
