package search_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/syntax"
)

// heapInUse returns the bytes of the heap that are in use.
func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools keep, too
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestLargeTextIsNotKept: a search that waits, for a processor or its client,
// holds no large text that it has given back to the store.
func TestLargeTextIsNotKept(t *testing.T) {
	const textBytes, searches = 6 << 20, 8
	var files []doc
	for i := range 3 {
		files = append(files, doc{repo: "r", path: fmt.Sprint("big", i), text: "kiln\n" + strings.Repeat("slip glaze ash\n", textBytes/15) + "end\n"})
	}
	c := newCorpus(t, 1<<16, nil, files)
	for name, text := range map[string]string{
		"documents": `type:file [a-z]+iln\n+slip`, "file tests": `repo:has.content([a-z]+iln\n+slip) type:file end$`,
	} {
		t.Run(name, func(t *testing.T) {
			q, err := syntax.Parse(text, query.Regexp)
			if err != nil {
				t.Fatal(err)
			}
			before := heapInUse()
			s := search.New(c.st, search.Settings{Workers: 1, TopDocuments: 1})
			goOn := make(chan struct{})
			var wg, found sync.WaitGroup
			for range searches {
				found.Add(1)
				first := sync.OnceFunc(found.Done)
				wg.Go(func() {
					defer first()
					s.Search(t.Context(), q, search.Options{Display: -1}, answer.SinkFunc(func([]query.Match) error {
						first()
						<-goOn
						return nil
					}))
				})
			}
			found.Wait()
			held, room := heapInUse()-before, c.st.Metrics().LargeBytes
			close(goOn)
			wg.Wait()
			if held > 2*textBytes || room != 0 {
				t.Errorf("%d searches that wait for their clients hold %d MiB, %d MiB of them by the store's count; want less than two texts of %d MiB",
					searches, held>>20, room>>20, textBytes>>20)
			}
		})
	}
}
