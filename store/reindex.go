package store

// Reindex marks a repository, so that it is read again in full although no commit has
// changed: its files by the next sync, its commits by the next reading of them. What is
// indexed stays until then. The mark is part of the record: it outlives a restart, and
// each node of a cluster sees it. It returns the new record.
func (rs Repositories) Reindex(name string) (r *Repository, err error) {
	err = rs.s.Update(func(tx *Tx) error {
		r, err = tx.changeRecord(name, func(r *Repository) error {
			r.Admission, r.History.Depth = "", ""
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Reindexes reports whether the next sync reads all files of the repository again: it
// is marked, or a program wrote the record that did not know Admission.
func (r *Repository) Reindexes() bool { return r.Indexed() && r.Admission == "" }

// Again reports whether all commits are to be read again although Tip is reached. Those
// that are kept stay until then.
func (h *History) Again() bool { return h.Tip != "" && h.Depth == "" }
