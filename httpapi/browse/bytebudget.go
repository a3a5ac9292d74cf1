package browse

// listBytes is how much text and addresses a list on a page may have. Names and
// paths come from repositories: a thousand of them can be megabytes.
const listBytes = 1 << 20

// byteBudget is the number of bytes that a list may still have.
type byteBudget int

// take takes so many bytes for a row, or reports false if there are none left.
func (b *byteBudget) take(parts ...string) bool {
	for _, p := range parts {
		*b -= byteBudget(len(p))
	}
	return *b >= 0
}
