package browse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/spool"
)

// mostListed is how many files an archive has at most, as a branch that is
// indexed.
const mostListed = 1_000_000

// listing is what goes into an archive, in the spool. It is known as a whole
// before the first byte is sent: what cannot be sent, and which names clash.
//
// A tree that no git made may have a symbolic link and a directory of one name.
// A program that unpacks an archive of it, entry by entry, writes the files of
// the directory to where the link leads. So a link whose name another entry
// has, or has as one of its directories, is left out. Names are one also if
// they differ in case, or in dots and spaces at the end, as they are for some
// systems.
type listing struct {
	file    *spool.File
	entries int
	// nameBytes is the length of all names.
	nameBytes int64
	// seed is for the hashes of names. links are those of symbolic links, with how
	// many there are; clashes are those that are left out. Two names of one hash cost
	// a link its place, by a chance of one in billions.
	seed    maphash.Seed
	links   map[uint64]int
	clashes map[uint64]bool
}

// list writes down what stands at the path of the download, under its whole path.
func (d *download) list(ctx context.Context, found git.Entry) (*listing, error) {
	f, err := d.spoolFile(ctx, 0)
	if err != nil {
		return nil, err
	}
	l := &listing{file: f, seed: maphash.MakeSeed(), links: map[uint64]int{}, clashes: map[uint64]bool{}}
	out := bufio.NewWriterSize(f, 32<<10)
	err = d.eachFile(ctx, found, func(e git.TreeEntry) error {
		switch limit := d.space.Largest(); {
		case l.entries == mostListed:
			return tooLarge("there are more than %d files: clone the repository", mostListed)
		case e.Mode != git.ModeSubmodule && e.Size > limit:
			return tooLarge("%q is larger than the %d MiB that can be sent at once: clone the repository", e.Path, limit>>20)
		case e.Mode == git.ModeSymlink && e.Size > maxLinkBytes:
			return tooLarge("%q is a symbolic link of %d bytes, at most %d", e.Path, e.Size, maxLinkBytes)
		}
		l.entries++
		l.nameBytes += int64(len(e.Path))
		if e.Mode == git.ModeSymlink {
			l.links[l.hash(folded(e.Path))]++
		}
		_, err := fmt.Fprintf(out, "%o %s %d %s\x00", e.Mode, e.OID, e.Size, e.Path)
		return err
	})
	if err = errors.Join(err, out.Flush()); err == nil {
		err = l.findClashes()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// eachFile calls f for each file at the path of the download.
func (d *download) eachFile(ctx context.Context, found git.Entry, f func(git.TreeEntry) error) error {
	if !found.Directory() {
		size, err := d.place.code.Size(ctx, found.OID)
		if err != nil {
			return err
		}
		return f(git.TreeEntry{Mode: found.Mode, OID: found.OID, Path: d.place.path, Size: size})
	}
	repo, err := d.place.code.Repo(ctx)
	if err != nil {
		return err
	}
	return repo.ListTreeSizes(ctx, found.OID, func(e git.TreeEntry) error {
		if d.place.path != "" {
			e.Path = d.place.path + "/" + e.Path
		}
		return f(e)
	})
}

// each calls f for each entry, in git's order.
func (l *listing) each(f func(git.TreeEntry) error) error {
	for in := bufio.NewReaderSize(l.file.Reader(), 32<<10); ; {
		record, err := in.ReadString(0)
		if errors.Is(err, io.EOF) && record == "" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the list of files: %w", err)
		}
		var e git.TreeEntry
		mode, rest, _ := strings.Cut(strings.TrimSuffix(record, "\x00"), " ")
		e.OID, rest, _ = strings.Cut(rest, " ")
		size, path, _ := strings.Cut(rest, " ")
		bits, modeErr := strconv.ParseUint(mode, 8, 32)
		var sizeErr error
		e.Size, sizeErr = strconv.ParseInt(size, 10, 64)
		if err := errors.Join(modeErr, sizeErr); err != nil {
			return fmt.Errorf("read the list of files: %w", err)
		}
		e.Mode, e.Path = uint32(bits), path
		if err := f(e); err != nil {
			return err
		}
	}
}

// findClashes finds the links that are left out.
func (l *listing) findClashes() error {
	if len(l.links) == 0 {
		return nil
	}
	return l.each(func(e git.TreeEntry) error {
		name := folded(e.Path)
		if h := l.hash(name); l.links[h] > 1 || l.links[h] > 0 && e.Mode != git.ModeSymlink {
			l.clashes[h] = true
		}
		for i := range name {
			if name[i] != '/' {
				continue
			}
			if h := l.hash(name[:i]); l.links[h] > 0 {
				l.clashes[h] = true
			}
		}
		return nil
	})
}

// leftOut reports whether an entry is a link that clashes with another entry.
func (l *listing) leftOut(e git.TreeEntry) bool {
	return e.Mode == git.ModeSymlink && l.clashes[l.hash(folded(e.Path))]
}

func (l *listing) hash(name string) uint64 { return maphash.String(l.seed, name) }

// folded returns a path as an archive has it, the same for paths that are one on
// some system.
func folded(path string) string {
	parts := strings.Split(strings.ToLower(strings.ToUpper(harmless(path))), "/")
	for i, part := range parts {
		parts[i] = strings.TrimRight(part, ". ")
	}
	return strings.Join(parts, "/")
}

// Close gives back what the list takes.
func (l *listing) Close() error { return l.file.Close() }
