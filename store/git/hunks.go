package git

// hunks holds the hunks of the files of a commit, each file's in one piece, in
// blocks that are used again for the next commit. Were they one slice that
// grows, each file would hold on to the slice as it was at that time, and a
// commit of 32 MiB took 154.
type hunks struct {
	// blocks are those made so far, the first of them in use: the last of those
	// holds the file at hand at its end.
	blocks [][]byte
	used   int
	// file is what there is of the file at hand; ended is the length of those
	// before it.
	file  []byte
	ended int
}

// hunkBlockBytes is the size of a block: few hunks are longer than an eighth of
// it.
const hunkBlockBytes = 1 << 20

// firstHunkBytes is the size of the first block. Each next one is twice as large, up to
// hunkBlockBytes: most repositories have little history.
const firstHunkBytes = 64 << 10

// clear forgets all. Lines added later overwrite the results of end.
func (h *hunks) clear() {
	for i := range h.blocks {
		h.blocks[i] = h.blocks[i][:0]
	}
	h.used, h.ended, h.file = min(1, len(h.blocks)), 0, nil
}

// begin begins a file.
func (h *hunks) begin() {
	if h.used == 0 {
		h.next(0)
	}
	h.file = h.block()[len(h.block()):]
}

func (h *hunks) block() []byte { return h.blocks[h.used-1] }

// next takes another block, of at least so many bytes.
func (h *hunks) next(least int) {
	// Blocks may differ in size: one that is too small is passed over.
	for h.used++; h.used <= len(h.blocks); h.used++ {
		if cap(h.block()) >= least {
			return
		}
	}
	h.used = len(h.blocks) + 1
	size := min(firstHunkBytes<<min(len(h.blocks), 10), hunkBlockBytes)
	h.blocks = append(h.blocks, make([]byte, 0, max(least, size)))
}

// add adds to the file at hand, which moves to another block if it has to.
func (h *hunks) add(line []byte) {
	if len(h.file)+len(line) > cap(h.file) {
		so, least := h.file, 2*(len(h.file)+len(line))
		if len(h.block()) > 0 {
			h.next(least)
		} else {
			h.blocks[h.used-1] = make([]byte, 0, least) // no other text is in it
		}
		h.file = append(h.block()[len(h.block()):], so...)
	}
	h.file = append(h.file, line...)
}

// drop forgets what was added to the file at hand.
func (h *hunks) drop() { h.file = h.file[:0] }

// end ends the file at hand and returns it.
func (h *hunks) end() []byte {
	out := h.file[:len(h.file):len(h.file)]
	h.blocks[h.used-1] = h.block()[:len(h.block())+len(out)]
	h.ended += len(out)
	h.file = nil
	return out
}
