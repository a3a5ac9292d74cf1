package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// scrape returns the server's metrics without labels, by name.
func scrape(ctx context.Context, client *http.Client, url string) (map[string]float64, error) {
	body, err := fetch(ctx, client, url)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil && !strings.HasPrefix(name, "#") {
			out[name] = v
		}
	}
	return out, nil
}

func fetch(ctx context.Context, client *http.Client, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("get %s: %s: %.200s", url, resp.Status, body)
	}
	return string(body), err
}

// sample measures a server that does nothing.
func (s *soaker) sample(ctx context.Context, round int) (SoakSample, error) {
	s.client.client.CloseIdleConnections()
	// That page runs a collection first. Pooled memory survives one collection
	// and not two, and the table of an index that was just written is 64 MiB.
	for range 2 {
		if _, err := fetch(ctx, &s.debug, s.debugURL+"/debug/pprof/heap?gc=1&debug=1"); err != nil {
			return SoakSample{}, err
		}
	}
	m, err := scrape(ctx, &s.debug, s.debugURL+"/metrics")
	if err != nil {
		return SoakSample{}, err
	}
	out := SoakSample{
		Round: round, Life: s.life,
		HeapBytes:  m["go_memstats_heap_alloc_bytes"] - m["trawl_memory_cache_bytes"],
		RSSBytes:   m["process_resident_memory_bytes"],
		FreeBytes:  m["go_memstats_heap_idle_bytes"] - m["go_memstats_heap_released_bytes"],
		Goroutines: m["go_goroutines"], Files: m["process_open_fds"], Snapshots: m["trawl_engine_snapshots"],
		Children: float64(countBelow(s.server.cmd.Process.Pid)),
	}
	for _, name := range []string{"go_memstats_heap_alloc_bytes", "go_memstats_heap_idle_bytes", "go_memstats_heap_released_bytes", "trawl_memory_cache_bytes", "go_goroutines", "trawl_engine_snapshots"} {
		if _, ok := m[name]; !ok {
			return out, fmt.Errorf("the server tells no %s", name)
		}
	}
	if out.DiskBytes, out.Entries, err = sizeOf(s.data); err == nil {
		out.BackupBytes, _, err = sizeOf(s.backups)
	}
	return out, err
}

// sizeOf returns the bytes and the number of files below dir. Files that are
// deleted meanwhile do not count.
func sizeOf(dir string) (bytes, entries float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil {
			entries++
			if !d.IsDir() {
				bytes += float64(info.Size())
			}
		}
		return err
	})
	return bytes, entries, err
}
