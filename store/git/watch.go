package git

import (
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"time"
)

// A transfer has no fixed bound of memory: git makes a record of each object
// before it has them. So what its processes really take is looked at.
const (
	watchEvery = 20 * time.Millisecond
	// silentWithin is how long a transfer may go without a word of git's and
	// without using the processor.
	silentWithin = 3 * time.Minute
	// transferWithin is how long a transfer may take, and a second more for each
	// slowBytes that were received.
	transferWithin = 15 * time.Minute
	slowBytes      = 32 << 10
)

// watch is the state of a running transfer.
type watch struct {
	// dir is where objects arrive.
	dir string
	// source is the repository they come from, "" if that is not on this
	// machine: git's side of it counts too.
	source string
	// heard counts what git said.
	heard func() int64
	// silent is how long that may stay the same.
	silent time.Duration

	began, lively time.Time
	last          [2]int64 // of heard and ticks
}

// follow looks at a child until it has ended, and ends it with a reason if it
// takes too much.
func (w *watch) follow(ended <-chan struct{}, cmd *exec.Cmd, end func(error)) {
	w.began, w.lively = time.Now(), time.Now()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case now := <-tick.C:
			if err := w.judge(cmd.Process.Pid, now); err != nil {
				end(err)
				return
			}
		}
	}
}

// judge returns why a transfer is not to go on.
func (w *watch) judge(pid int, now time.Time) error {
	memory, ticks := usage(pid)
	if memory > childBytes {
		// Most repositories never come here, where files are looked at. A pack that
		// is well compressed has a record for each object in memory that is nearly as
		// large as what lies on disk.
		if allowed := childBytes + packBytes(w.dir) + packBytes(w.source); memory > allowed {
			return fmt.Errorf("%w: it took more than %d MiB of memory for what was sent; the repository holds objects that are far larger than their pack",
				ErrTooCostly, allowed>>20)
		}
	}
	if seen := [2]int64{w.heard(), ticks}; seen != w.last {
		w.last, w.lively = seen, now
	}
	switch took := now.Sub(w.began); {
	case now.Sub(w.lively) > w.silent:
		return fmt.Errorf("%w: the remote has been silent for %s", ErrTooCostly, w.silent)
	case took > transferWithin && took > transferWithin+time.Duration(packBytes(w.dir)/slowBytes)*time.Second:
		return fmt.Errorf("%w: the remote took longer than %s and sends less than %d KiB a second", ErrTooCostly, transferWithin, slowBytes>>10)
	}
	return nil
}

// taken is the memory of a transfer. Most take so little that files need not be
// looked at.
func (w *watch) taken(pid int) int64 {
	memory, _ := usage(pid)
	if memory < childBytes/8 {
		return memory
	}
	return max(memory-packBytes(w.dir)-packBytes(w.source), 0)
}

// watching returns what there is to know of a command for a remote.
func watching(from remote, dir string, tail *stderrTail) *watch {
	w := &watch{dir: dir, heard: tail.heard.Load, silent: silentWithin}
	if from.local {
		w.source = localDir(from)
	}
	return w
}

// localDir is the git directory of a local remote, as far as it can be found
// without git.
func localDir(from remote) string {
	dir := from.url
	if u, err := url.Parse(dir); err == nil && u.Scheme == "file" {
		dir = filepath.FromSlash(u.Path)
	}
	if sub := filepath.Join(dir, ".git"); packBytes(sub) > 0 {
		return sub
	}
	return dir
}
