package backup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store/disk"
)

// source is a file to back up: its path, and its entry in the manifest.
type source struct {
	File
	from string
}

// scan lists the files of a staged data directory by path.
func scan(fs disk.FS, dir string) ([]source, error) {
	var out []source
	if err := scanInto(&out, fs, dir, ""); err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func scanInto(out *[]source, fs disk.FS, dir, prefix string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		from, path := fs.PathJoin(dir, n), prefix+n
		info, err := fs.Stat(from)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			if err := scanInto(out, fs, from, path+"/"); err != nil {
				return err
			}
		// Files that cannot be restored are left out: locks, and refs of odd
		// names.
		case checkPath(path) == nil:
			*out = append(*out, source{File{Path: path, Size: info.Size(), Modified: info.ModTime().UnixNano()}, from})
		}
	}
	return nil
}

// piece is a run of bytes of a file.
type piece struct {
	// file is an index of the sources.
	file           int
	offset, length int64
}

// smallBytes is the size below which files share an object.
const smallBytes = partBytes / 4

// cut divides the files that todo names into the contents of objects. Large
// files are cut at fixed places, so that one which grew keeps its first parts.
func cut(files []source, todo []int) [][]piece {
	var out [][]piece
	var small []piece
	room := int64(partBytes)
	for _, i := range todo {
		size := files[i].Size
		switch {
		case size == 0:
		case size < smallBytes:
			if size > room {
				out, small, room = append(out, small), nil, partBytes
			}
			small, room = append(small, piece{i, 0, size}), room-size
		default:
			for at := int64(0); at < size; at += partBytes {
				out = append(out, []piece{{i, at, min(partBytes, size-at)}})
			}
		}
	}
	if len(small) > 0 {
		out = append(out, small)
	}
	return out
}
