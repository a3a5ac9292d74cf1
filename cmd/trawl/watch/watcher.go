package watch

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"
)

const (
	// settle is for how long git may go on writing before a change is reported: one
	// command writes several files.
	settle = 30 * time.Millisecond
	// leastSpacing and mostSpacing bound the time between two reports of a repository. It
	// doubles while changes follow one another, and begins anew after a calm.
	leastSpacing = 100 * time.Millisecond
	mostSpacing  = 800 * time.Millisecond
	calm         = 3 * time.Second
	// mostWait is for how long a change is kept back, whatever Rest says.
	mostWait = time.Minute
	// usualMostDirs is how many folders are watched; Linux lets a user watch 8,192 and more.
	usualMostDirs = 6000
	// mostDirsOfOne is how many folders of one repository are watched.
	mostDirsOfOne = 500
)

// Options are what a Watcher needs.
type Options struct {
	// Changed is called with the name of a repository whose refs were written, and when
	// that was first seen. It returns soon.
	Changed func(name string, at time.Time)
	// Rest returns the least time between two reports of a repository, which is long for
	// one whose syncs are; nil is no more than usual. It returns at once.
	Rest func(name string) time.Duration
	Log  zerolog.Logger
	// MostDirs bounds the folders that are watched, 0 being the usual number.
	MostDirs int
}

// Watcher watches repositories. It is safe for concurrent use.
type Watcher struct {
	o     Options
	files *fsnotify.Watcher
	// wake has the goroutine look at what is pending.
	wake chan struct{}
	done sync.WaitGroup

	mu sync.Mutex // guards all below
	// byName are the repositories, byDir the folders that are watched.
	byName map[string]*repository
	byDir  map[string]*watched
	// refused are those that cannot be watched, which is logged once, and without is how many
	// there was no room for, which is logged when it changes.
	refused map[string]bool
	without int
}

// repository is one that is watched.
type repository struct {
	name, dir string
	// folders are those that are watched for it.
	folders []string
	// first is when a change was seen that is not reported yet, due when it is to be;
	// both are zero if there is none.
	first, due time.Time
	// reported is when the last report was, spacing the time until the next at least.
	reported time.Time
	spacing  time.Duration
	// stale says that a part is not watched any more: the next Follow tries it anew.
	stale bool
}

// watched is a folder.
type watched struct {
	kind kind
	// of are the repositories, more than one where worktrees share refs.
	of map[*repository]bool
}

var (
	// errFull says that no more folders are watched.
	errFull = errors.New("as many folders are watched as may be")
	// errLarge says that no more folders of one repository are.
	errLarge = errors.New("it has more folders of refs than are watched of one repository")
)

// Local is a repository of this machine.
type Local struct{ Name, Dir string }

// New returns a watcher, which is closed when it is done with.
func New(o Options) (*Watcher, error) {
	files, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		return nil, err
	}
	if o.MostDirs == 0 {
		o.MostDirs = usualMostDirs
	}
	w := &Watcher{o: o, files: files, wake: make(chan struct{}, 1), byName: map[string]*repository{}, byDir: map[string]*watched{}, refused: map[string]bool{}}
	w.done.Go(w.run)
	return w, nil
}

// Close ends the watch.
func (w *Watcher) Close() error {
	err := w.files.Close()
	w.done.Wait()
	return err
}

// Follow watches those repositories and no others. If there is no room for all of them, it
// goes on with those that are watched, and watches the first of the others.
func (w *Watcher) Follow(all []Local) {
	w.mu.Lock()
	defer w.mu.Unlock()
	dirs := make(map[string]string, len(all))
	for _, r := range all {
		dirs[r.Name] = r.Dir
	}
	for name, r := range w.byName {
		if dirs[name] != r.dir {
			delete(w.byName, name)
			w.release(r)
		}
	}
	for name := range w.refused {
		if _, ok := dirs[name]; !ok {
			delete(w.refused, name)
		}
	}
	left := 0
	for _, r := range all {
		if left > 0 && w.byName[r.Name] == nil {
			left++
		} else if errors.Is(w.add(r.Name, r.Dir), errFull) {
			left++
		}
	}
	if left > 0 && left != w.without {
		w.o.Log.Info().Int("watched", len(w.byName)).Int("not_watched", left).Err(errFull).Msg("local repositories are not watched, and looked at from time to time only")
	}
	w.without = left
}

// Add watches one more.
func (w *Watcher) Add(name, dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.add(name, dir) // if there is no room, the next Follow says so
}

// Watching reports whether a repository is watched.
func (w *Watcher) Watching(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.byName[name]
	return r != nil && !r.stale
}

// add watches a repository unless it is watched.
func (w *Watcher) add(name, dir string) error {
	switch known := w.byName[name]; {
	case known == nil:
	case !known.stale:
		return nil
	default:
		delete(w.byName, name)
		w.release(known)
	}
	r := &repository{name: name, dir: dir, spacing: leastSpacing}
	err := w.watchAll(r)
	if err == nil {
		w.byName[name] = r
		delete(w.refused, name)
		return nil
	}
	w.release(r)
	if !w.refused[name] && !errors.Is(err, errFull) {
		w.refused[name] = true
		w.o.Log.Info().Str("repo", name).Err(err).Msg("local repository is not watched, and looked at from time to time only")
	}
	return err
}

func (w *Watcher) watchAll(r *repository) error {
	gitDir, common, err := locate(r.dir)
	if err != nil {
		return err
	}
	if err := w.watch(r, gitDir, kindGit); err != nil {
		return err
	}
	if common != gitDir {
		if err := w.watch(r, common, kindGit); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(filepath.Join(common, reftable)); err == nil && info.IsDir() {
		return w.watch(r, filepath.Join(common, reftable), kindTables)
	}
	return w.watchRefs(r, filepath.Join(common, "refs"))
}

// watchRefs watches a folder of refs and those below it.
func (w *Watcher) watchRefs(r *repository, top string) error {
	return filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil // git removes folders that are empty
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		}
		return w.watch(r, path, kindRefs)
	})
}

// watch watches a folder for a repository.
func (w *Watcher) watch(r *repository, dir string, k kind) error {
	at := w.byDir[dir]
	if at == nil {
		if len(w.byDir) >= w.o.MostDirs {
			return errFull
		}
		if len(r.folders) >= mostDirsOfOne {
			return errLarge
		}
		switch err := w.files.Add(dir); {
		case errors.Is(err, syscall.ENOSPC): // the system lets a user watch so many
			return errFull
		case err != nil:
			return err
		}
		at = &watched{kind: k, of: map[*repository]bool{}}
		w.byDir[dir] = at
	}
	if !at.of[r] {
		at.of[r] = true
		r.folders = append(r.folders, dir)
	}
	return nil
}

// release ends the watch of the folders of a repository.
func (w *Watcher) release(r *repository) {
	for _, dir := range r.folders {
		at := w.byDir[dir]
		if at == nil {
			continue
		}
		if delete(at.of, r); len(at.of) == 0 {
			delete(w.byDir, dir)
			_ = w.files.Remove(dir) // the folder may be gone, and its watch with it
		}
	}
	r.folders = nil
}

// run takes events until the watcher is closed.
func (w *Watcher) run() {
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	for {
		select {
		case e, ok := <-w.files.Events:
			if !ok {
				return
			}
			w.seen(e, time.Now())
		case err, ok := <-w.files.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				w.all(time.Now()) // any of them may have changed
			}
		case <-due.C:
		}
		due.Reset(w.report(time.Now()))
	}
}

// all notes that any repository may have changed.
func (w *Watcher) all(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.byName {
		w.change(r, now)
	}
}

// seen notes an event.
func (w *Watcher) seen(e fsnotify.Event, now time.Time) {
	if e.Op == fsnotify.Chmod {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if gone := w.byDir[e.Name]; gone != nil && e.Has(fsnotify.Remove|fsnotify.Rename) {
		w.left(e.Name, gone, now)
	}
	at := w.byDir[filepath.Dir(e.Name)]
	if at == nil || !at.kind.matters(filepath.Base(e.Name)) {
		return
	}
	isNewDir := at.kind == kindRefs && e.Has(fsnotify.Create) && isFolder(e.Name)
	for r := range at.of {
		if isNewDir && w.watchRefs(r, e.Name) != nil {
			r.stale = true
		}
		w.change(r, now)
	}
}

// left notes that a folder is gone. One of refs was empty, or has been made again before
// this was heard of; a repository that is gone may come back.
func (w *Watcher) left(dir string, at *watched, now time.Time) {
	isBack := at.kind == kindRefs && isFolder(dir)
	stays := isBack && w.files.Add(dir) == nil
	for r := range at.of {
		r.stale = r.stale || at.kind != kindRefs || isBack && !stays
		w.change(r, now)
	}
	if !stays {
		delete(w.byDir, dir)
	}
}

func isFolder(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}

// change notes that a repository has changed.
func (w *Watcher) change(r *repository, now time.Time) {
	if r.first.IsZero() {
		r.first = now
	}
	if now.Sub(r.reported) > calm {
		r.spacing = leastSpacing
	}
	spacing := r.spacing
	if w.o.Rest != nil {
		spacing = max(spacing, w.o.Rest(r.name))
	}
	r.due = now.Add(settle)
	if next := r.reported.Add(spacing); next.After(r.due) {
		r.due = next
	}
	if last := r.first.Add(mostSpacing); r.due.After(last) {
		r.due = last // git may go on writing for long
	}
	if next := r.reported.Add(min(spacing, mostWait)); next.After(r.due) {
		r.due = next
	}
}

// report reports what is due, and returns the time until there is more.
func (w *Watcher) report(now time.Time) (wait time.Duration) {
	type report struct {
		name string
		at   time.Time
	}
	var all []report
	wait = time.Hour
	w.mu.Lock()
	for _, r := range w.byName {
		switch {
		case r.due.IsZero():
		case r.due.After(now):
			wait = min(wait, r.due.Sub(now))
		default:
			all = append(all, report{r.name, r.first})
			r.first, r.due, r.reported = time.Time{}, time.Time{}, now
			r.spacing = min(2*r.spacing, mostSpacing)
		}
	}
	w.mu.Unlock()
	for _, r := range all {
		w.o.Changed(r.name, r.at)
	}
	return wait
}
