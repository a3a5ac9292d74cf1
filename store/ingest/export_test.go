package ingest

// AwaitCopies waits until no copy of a repository is brought up to date.
func (ix *Indexer) AwaitCopies() { ix.Mirrors.copies.running.Wait() }
