package git

import "testing"

// Occupy takes so many bytes of a budget until leave is called, as a process
// would that cannot be ended.
func Occupy(b *Budget, bytes int64) (leave func()) {
	left := b.enter(&member{func() int64 { return bytes }, func(error) {}})
	b.mu.Lock()
	b.set(bytes)
	b.mu.Unlock()
	return left
}

// SetOwner sets who files belong to, for a test.
func SetOwner(t *testing.T, of func(path string) (user int, ok bool)) {
	before := owner
	owner = of
	t.Cleanup(func() { owner = before })
}
