package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Usage is what one child process and its children took.
type Usage struct {
	Wall time.Duration `json:"wallNanos"`
	// CPU is user and system time, of the children that were waited for too.
	CPU time.Duration `json:"cpuNanos"`
	// PeakRSSBytes is the most memory any single process of the tree held, by
	// samples and by rusage. Linux carries our own size over from fork to exec
	// in the latter, so it is believed only when it is larger.
	PeakRSSBytes int64 `json:"peakRSSBytes"`
	// PeakTreeRSSBytes is the most that all of them held at one time, as far as
	// samples show; it counts pages shared by two of them twice. Without a
	// /proc it is PeakRSSBytes.
	PeakTreeRSSBytes int64 `json:"peakTreeRSSBytes"`
	// PeakTreeAnonBytes is the peak of the memory of all processes without pages of
	// mapped files, which the kernel can take back; 0 without a /proc.
	PeakTreeAnonBytes int64 `json:"peakTreeAnonBytes,omitempty"`
	// PeakOwnBytes is the most that the command held itself, without its
	// children and what they map; 0 without a /proc.
	PeakOwnBytes int64 `json:"peakOwnBytes,omitempty"`
}

const (
	// sampleEvery is the time between two looks at a process tree. A look costs
	// some tens of microseconds, and more with each thread and process.
	sampleEvery = 10 * time.Millisecond
	// sampleShare is how many times as long as a look the time between two is at
	// least, so that looking takes no processor from what is measured.
	sampleShare = 50
)

// measure runs cmd to its end and returns its usage. The command's standard
// error becomes part of the error.
func measure(cmd *exec.Cmd) (Usage, error) {
	stderr := &tail{}
	cmd.Stderr = stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Usage{}, err
	}
	watch := watchTree(cmd.Process.Pid)
	err := cmd.Wait()
	u := Usage{Wall: time.Since(start)}
	seen := watch.stop()
	cpu, peak := rusage(cmd.ProcessState)
	if peak <= sampleTree(os.Getpid()).single {
		peak = 0
	}
	u.CPU = cpu
	u.PeakRSSBytes = max(peak, seen.single)
	u.PeakTreeRSSBytes = max(u.PeakRSSBytes, seen.total)
	u.PeakTreeAnonBytes, u.PeakOwnBytes = seen.anon, seen.own
	if err != nil {
		return u, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, stderr)
	}
	return u, nil
}

// measureIndex runs cmd, which fills dir with an index, and returns its usage.
func measureIndex(cmd *exec.Cmd, dir string) (*IndexFacts, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	u, err := measure(cmd)
	if err != nil {
		return nil, err
	}
	facts := &IndexFacts{Usage: u}
	facts.DiskBytes, facts.DiskParts, err = diskUse(dir)
	return facts, err
}

// treePeaks are the largest sizes in bytes seen of a process tree; own is what
// the first process was resident with, without those it started.
type treePeaks struct{ single, total, anon, own int64 }

func (p *treePeaks) add(s treePeaks) {
	p.single = max(p.single, s.single)
	p.total = max(p.total, s.total)
	p.anon = max(p.anon, s.anon)
	p.own = max(p.own, s.own)
}

// treeWatch samples a process tree until it is stopped.
type treeWatch struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	peaks  treePeaks
}

func watchTree(pid int) *treeWatch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &treeWatch{cancel: cancel}
	w.done.Go(func() {
		for ctx.Err() == nil {
			start := time.Now()
			w.peaks.add(sampleTree(pid))
			pause(ctx, max(sampleEvery, sampleShare*time.Since(start)))
		}
	})
	return w
}

func (w *treeWatch) stop() treePeaks {
	w.cancel()
	w.done.Wait()
	return w.peaks
}

// tail keeps the end of what is written to it. It is safe for concurrent use,
// since a process is asked for its last words while it still speaks.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

// fileTail is a file without a name that a process writes to by itself. A server
// that logs each request would wake the client that measures it through a pipe.
type fileTail struct{ *os.File }

func newFileTail() (fileTail, error) {
	f, err := os.CreateTemp("", "trawl-bench-stderr")
	if err != nil {
		return fileTail{}, err
	}
	_ = os.Remove(f.Name()) // where an open file keeps its name, it stays in the folder for temporary files
	return fileTail{f}, nil
}

// String is the end of what was written.
func (t fileTail) String() string {
	info, err := t.Stat()
	if err != nil {
		return err.Error()
	}
	end := make([]byte, min(info.Size(), tailBytes))
	if _, err := t.ReadAt(end, info.Size()-int64(len(end))); err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(end))
}

// diskUse returns the bytes in files below dir, and those below each entry of
// dir. Files that vanish while it counts are not there any more.
func diskUse(dir string) (int64, map[string]int64, error) {
	parts := map[string]int64{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, nil, err
	}
	var total int64
	for _, e := range entries {
		n, err := sizeBelow(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, nil, err
		}
		parts[e.Name()] = n
		total += n
	}
	return total, parts, nil
}

func sizeBelow(path string) (int64, error) {
	var total int64
	err := filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		total += info.Size()
		return nil
	})
	return total, err
}
