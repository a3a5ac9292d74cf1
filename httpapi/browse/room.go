package browse

// roomBytes is how much text and addresses a list on a page has. Names and paths
// are those of strangers: a thousand of them can be megabytes.
const roomBytes = 1 << 20

// room is what is left of it.
type room int

// take takes so many bytes for a row, or reports false if there are none left.
func (b *room) take(parts ...string) bool {
	for _, p := range parts {
		*b -= room(len(p))
	}
	return *b >= 0
}
