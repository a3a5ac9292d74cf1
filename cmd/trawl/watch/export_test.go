package watch

import (
	"time"

	"github.com/fsnotify/fsnotify"
)

// Removed has a watcher hear that a folder was removed.
func (w *Watcher) Removed(dir string) {
	w.seen(fsnotify.Event{Name: dir, Op: fsnotify.Remove}, time.Now())
}
