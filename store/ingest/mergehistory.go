package ingest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store/shard"
)

// commitSource is a live commit of an input shard.
type commitSource struct {
	view   shard.View
	circle string
	text   *shard.Text
	docs   *shard.Documents
	table  *shard.Commits
	commit int
}

// rewriteHistory is rewrite for history shards: commits stay together, those of
// a repository beside one another and in log order.
func (m *merging) rewriteHistory(ctx context.Context, group []shard.View) error {
	var all []commitSource
	for _, v := range group {
		table, err := v.Commits()
		if err != nil {
			return err
		}
		docs, err := v.Documents()
		if err != nil {
			return err
		}
		text := v.Text()
		for i := range table.Len() {
			if v.Dead == nil || !v.Dead.Contains(uint16(table.Message[i])) {
				all = append(all, commitSource{v, m.circles[table.Repository[i]], text, docs, table, i})
			}
		}
	}
	slices.SortFunc(all, func(a, b commitSource) int {
		return cmp.Or(strings.Compare(a.circle, b.circle), cmp.Compare(b.table.Repository[b.commit], a.table.Repository[a.commit]),
			shard.CompareLog(a.table, a.commit, b.table, b.commit))
	})
	w := m.begin(ctx, group)
	defer w.Close()
	var texts openTexts
	defer texts.close()
	for i, s := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		var message string
		var files []shard.ChangedFile
		err := m.merger.pace.run(ctx, func() (err error) {
			message, files, err = s.read(&texts)
			return err
		})
		if err != nil {
			return err
		}
		if !w.FitsCommit(message, files) || i > 0 && s.circle != all[i-1].circle {
			if err := w.finish(ctx); err != nil {
				return err
			}
		}
		c := s.table.At(s.commit)
		if err := m.merger.pace.run(ctx, func() error { return w.AddCommit(c, message, files) }); err != nil {
			return err
		}
		w.pending[c.Repository] = true
		for d := s.table.Message[s.commit]; d < s.table.Message[s.commit+1]; d++ {
			w.written = append(w.written, source{view: s.view, docs: s.docs, doc: int(d)})
		}
		m.step(ctx, i+1, len(all))
	}
	return w.finish(ctx)
}

// read returns what stands in the commit's documents.
func (s *commitSource) read(texts *openTexts) (message string, files []shard.ChangedFile, err error) {
	first, end := s.table.Message[s.commit], s.table.Message[s.commit+1]
	text, err := texts.slice(s.text, s.docs.TextStart[first], s.docs.TextStart[first+1])
	if err != nil {
		return "", nil, err
	}
	message = string(text)
	for d := first + 1; d < end; d++ {
		hunks, err := texts.slice(s.text, s.docs.TextStart[d], s.docs.TextStart[d+1])
		if err != nil {
			return "", nil, err
		}
		files = append(files, shard.ChangedFile{
			Path: s.docs.Path(int(d)), OldPath: s.table.OldPath(int(d)), Status: s.table.Status[d],
			Mode: s.docs.Mode[d], Reason: s.docs.Reason[d], Hunks: bytes.Clone(hunks),
		})
	}
	return message, files, nil
}
